"""`make` is the index of what one can do, and says so truly."""

import re
import subprocess

import pytest
from tests.deploy.documents import documents, name
from tests.deploy.repository import ROOT
from tests.every_part import Outcome, pytest_closing, summary

MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
TARGETS = set(re.findall(r"^\.PHONY: (\S+)$", MAKEFILE, re.MULTILINE))


def test_help_lists_every_target() -> None:
    done = subprocess.run(["make", "help"], cwd=ROOT, check=True, capture_output=True, text=True)
    assert set(re.findall(r"^  make (\S+)", done.stdout, re.MULTILINE)) == TARGETS


def test_every_part_of_the_tests_is_a_target() -> None:
    parts = re.search(r"^PARTS \?= (.*)$", MAKEFILE, re.MULTILINE)
    assert parts is not None
    assert set(parts[1].split()) <= TARGETS


@pytest.mark.parametrize("document", documents(), ids=name)
def test_targets_that_documents_name_exist(document) -> None:
    text = document.read_text("utf-8")
    named = re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)
    assert set(named) <= TARGETS


def test_ci_runs_what_everybody_runs() -> None:
    assert (ROOT / ".ci" / "run").read_text("utf-8").rstrip().endswith("exec make test")


@pytest.mark.parametrize(
    ("line", "closing"),
    [
        ("============ 12 passed in 3.21s ============\n", "12 passed in 3.21s"),
        (
            "==== 1 failed, 2 passed in 61.00s (0:01:01) ====\n",
            "1 failed, 2 passed in 61.00s (0:01:01)",
        ),
        (
            "\x1b[32m=== \x1b[1m3 passed\x1b[0m\x1b[32m in 0.10s\x1b[0m ===\x1b[0m\n",
            "3 passed in 0.10s",
        ),
        ("============ short test summary info ============\n", ""),
        ("collected 12 items\n", ""),
    ],
)
def test_closing_line_of_pytest_is_found(line: str, closing: str) -> None:
    assert pytest_closing(line) == closing


def test_summary_names_what_failed_and_how_to_repeat_it() -> None:
    good = Outcome(part="lint", passed=True, seconds=1.25, closing="")
    bad = Outcome(part="unit", passed=False, seconds=75, closing="1 failed in 74.00s")
    assert summary([good, bad]).splitlines() == [
        "  passed  lint          1.2 s",
        "  FAILED  unit       1 min 15 s  1 failed in 74.00s",
        "2 parts in 1 min 16 s: failed: unit; run one with: make unit",
    ]
