"""Every reason has one explanation, and people find it."""

import re
from pathlib import Path

import pytest

from elasticep.cli import commands
from elasticep.cli.reasons import Explanation, topics
from elasticep.engine.crash_signatures import SIGNATURES

REASONS_PAGE = Path(__file__).parents[2] / "docs" / "reasons.md"
ALL = [one for topic in topics() for one in topic.explanations]


def spelling(one: Explanation) -> str:
    return one.word


def test_a_word_means_one_thing() -> None:
    lowered = [one.word.lower() for one in ALL]
    assert sorted(set(lowered)) == sorted(lowered)


@pytest.mark.parametrize("one", ALL, ids=spelling)
def test_a_reason_is_one_word_with_a_meaning_and_advice_in_sentences(one: Explanation) -> None:
    assert re.fullmatch(r"([A-Z][a-z0-9]*)+", one.word)
    for text in (one.meaning, one.advice):
        assert re.fullmatch(r"\S.*\.", text), "a sentence ends"
        assert "\n" not in text
    assert one.meaning[0].isupper() or one.meaning.startswith("spec.")
    assert len(one.advice) < 512, "it must fit a condition beside what is wrong"


def test_every_crash_signature_is_in_the_table() -> None:
    assert {signature.reason for signature in SIGNATURES} <= {one.word for one in ALL}


def explain(*arguments: str) -> int:
    return commands.main(["explain", *arguments], program="elasticep")


def test_explain_says_what_a_reason_means_and_what_to_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert explain("CudaGraphEnabled") == 0
    said = capsys.readouterr().out
    assert "needs you" in said
    assert "A CUDA graph is on" in said
    assert "Remove every CUDA graph flag from engine.args" in said


@pytest.mark.parametrize(
    ("typed", "meant"), [("cudagraphenabled", "CudaGraphEnabled"), ("rankLost", "RankLost")]
)
def test_explain_does_not_care_for_capitals(
    typed: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explain(typed) == 0
    assert capsys.readouterr().out.startswith(f"{meant} (")


@pytest.mark.parametrize(
    ("typed", "near"),
    [("CudaGraphsEnabld", "CudaGraphEnabled"), ("oom", "OOMKilled"), ("ImagePull", "ErrImagePull")],
)
def test_explain_suggests_what_an_unknown_word_may_have_meant(
    typed: str, near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explain(typed) == 1
    assert near in capsys.readouterr().err


def test_explain_says_so_when_nothing_is_near(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain("Xyzzy") == 1
    assert "elasticep explain lists all" in capsys.readouterr().err


def test_explain_alone_lists_every_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain() == 0
    listed = {line.split()[0] for line in capsys.readouterr().out.splitlines() if line[:2] == "  "}
    assert listed == {one.word for one in ALL}


def test_the_page_of_reasons_is_what_the_table_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain("--format", "markdown") == 0
    assert capsys.readouterr().out == REASONS_PAGE.read_text("utf-8"), "run: make crd"
