"""The commands as programs: what a shell sees of them."""

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent


def elasticep(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "elasticep", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_crd_prints_the_file_that_is_installed() -> None:
    printed = elasticep("crd")
    assert printed.returncode == 0
    assert printed.stdout == (REPOSITORY / "crds" / "elasticepgroups.yaml").read_text("utf-8")


@pytest.mark.parametrize("arguments", [[], ["lint"], ["dance"], ["crd", "--loud"]])
def test_a_command_line_that_makes_no_sense_is_explained(arguments: list[str]) -> None:
    refused = elasticep(*arguments)
    assert refused.returncode == 2
    assert refused.stderr.startswith("usage: elasticep")


def test_help_tells_of_every_command() -> None:
    shown = elasticep("--help").stdout
    assert all(command in shown for command in ("run", "lint", "render", "crd"))


def test_run_is_the_operator() -> None:
    shown = elasticep("run", "--help")
    assert shown.returncode == 0
    assert shown.stdout.startswith("usage: elasticep run")


def test_the_kubectl_plugin_is_the_same_under_its_own_name() -> None:
    shown = subprocess.run(
        [PROGRAMS / "kubectl-elasticep", "--help"], capture_output=True, text=True, check=True
    )
    assert shown.stdout.startswith("usage: kubectl elasticep")


def test_a_reader_that_has_seen_enough_is_no_error_to_speak_of() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "elasticep", "crd"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as printing:
        assert printing.stdout is not None
        assert printing.stderr is not None
        printing.stdout.close()
        assert printing.stderr.read() == b""
