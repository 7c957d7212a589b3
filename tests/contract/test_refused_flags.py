"""Admission against the real parsers: no flag of the operator's gets in, no other is kept out."""

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.judge import Judge, lines
from tests.contract.options import OWNED_SPELLINGS, Option, is_owned, uses

pytestmark = pytest.mark.contract

PLAIN_LINE = ("--model-path", "deepseek-ai/DeepSeek-V2-Lite", "--tp-size", "4")

Use = tuple[str, ...]


def test_every_alias_of_an_owned_flag_is_known(judge: Judge) -> None:
    for option in filter(is_owned, judge.worker.options()):
        assert OWNED_SPELLINGS.issuperset(option["spellings"])


def test_every_beginning_that_means_an_owned_flag_is_refused(judge: Judge) -> None:
    allowed = allowed_spellings(judge)
    owned = [s for option in filter(is_owned, judge.worker.options()) for s in option["spellings"]]
    meaning_owned = [
        beginning
        for spelling in owned
        for beginning in (spelling[:length] for length in range(2, len(spelling)))
        if not any(other.startswith(beginning) for other in allowed)
    ]
    assert "--tp" in meaning_owned
    forms = [form for flag in (*owned, *meaning_owned) for form in (flag, f"{flag}=4")]
    assert set(forms) - judge.refused_arguments(forms) == set()


def test_every_other_flag_is_allowed(judge: Judge) -> None:
    allowed = allowed_spellings(judge)
    assert judge.refused_arguments([form for s in allowed for form in (s, f"{s}=4")]) == set()


def allowed_spellings(judge: Judge) -> list[str]:
    options: list[Option] = [o for o in judge.worker.options() if not is_owned(o)]
    return [spelling for option in options for spelling in option["spellings"]]


def test_no_flag_that_gets_in_contradicts_what_the_operator_sets(
    judge: Judge, pytestconfig: pytest.Config
) -> None:
    """One use of each flag; with --all-versions every use that there is a value for."""
    every = pytestconfig.getoption("--all-versions", default=False)
    tried = admitted(
        judge,
        [
            use
            for option in judge.worker.options()
            for use in (uses(option) if every else uses(option)[:1])
        ],
    )
    assert len(tried) > 400
    assert contradictions(judge, tried) == []


@settings(
    max_examples=12,
    derandomize=True,
    deadline=None,
    # The judge is one process for the session, and a draw picks from hundreds of options.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_no_flags_that_get_in_together_contradict_what_the_operator_sets(
    judge: Judge, data: st.DataObject
) -> None:
    every_use = [use for option in judge.worker.options() for use in uses(option)]
    together = st.lists(st.sampled_from(every_use), min_size=2, max_size=4)
    drawn = data.draw(st.lists(together, min_size=10, max_size=10))
    combinations = [tuple(item for use in combination for item in use) for combination in drawn]
    assert contradictions(judge, admitted(judge, combinations)) == []


def admitted(judge: Judge, candidates: Sequence[Use]) -> list[Use]:
    """Those that admission lets in."""
    refused = judge.refused_arguments([item for use in candidates for item in use])
    return [use for use in candidates if refused.isdisjoint(use)]


def contradictions(judge: Judge, candidates: Sequence[Use]) -> list[tuple[str, str]]:
    """Arguments that SGLang takes alone but refuses in a group's line, with its last words."""
    right = lines(judge.group())[0]
    # The user's come first in a line; what that means is for other tests to say.
    in_group = judge.verdicts([*extra, *right] for extra in candidates)
    refused = [
        (extra, verdict)
        for extra, verdict in zip(candidates, in_group, strict=True)
        if not verdict.accepted
    ]
    alone = judge.verdicts((*PLAIN_LINE, *extra) for extra, _ in refused)
    return [
        (" ".join(extra), verdict.output.strip().rpartition("\n")[2])
        for (extra, verdict), plain in zip(refused, alone, strict=True)
        if plain.accepted
    ]


def test_the_users_flags_come_before_the_operators(judge: Judge) -> None:
    """The parser takes the last of two spellings, so even a flag that got in could not win."""
    extra = ("--mem-fraction-static", "0.85")
    for line in lines(judge.group(args=extra)):
        assert tuple(line[:2]) == extra
    sneaked_in = ["--tp-size", "2", "--max-ep-size=4", "--host", "127.0.0.1"]
    verdict = judge.verdict([*sneaked_in, *lines(judge.group())[0]])
    assert verdict.resolved is not None, verdict.output
    assert verdict.resolved["tp_size"] == 4
    assert verdict.resolved["max_ep_size"] == 8
    assert verdict.resolved["host"] == "0.0.0.0"
