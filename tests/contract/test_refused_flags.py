"""The table of refused flags against the real parsers: nothing slips through, nothing is lost."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from judge import Judge, launch
from options import OWNED_SPELLINGS, Option, is_owned, uses

from elasticep.engine.flags import refused_flags

pytestmark = pytest.mark.contract

PLAIN_LINE = ("--model-path", "deepseek-ai/DeepSeek-V2-Lite", "--tp-size", "4")


def test_every_alias_of_an_owned_flag_is_known(judge: Judge) -> None:
    for option in filter(is_owned, judge.worker.options()):
        assert OWNED_SPELLINGS.issuperset(option["spellings"])


def test_every_beginning_that_means_an_owned_flag_is_refused(judge: Judge) -> None:
    allowed = allowed_spellings(judge)
    for option in filter(is_owned, judge.worker.options()):
        for spelling in option["spellings"]:
            beginnings = (spelling[:length] for length in range(2, len(spelling) + 1))
            for beginning in beginnings:
                if not any(other.startswith(beginning) for other in allowed):
                    assert refused_flags((beginning,)), beginning
                    assert refused_flags((f"{beginning}=4",)), beginning
            assert refused_flags((spelling, "4"))
            assert refused_flags((f"{spelling}=4",))


def test_every_other_flag_is_allowed(judge: Judge) -> None:
    for spelling in allowed_spellings(judge):
        assert refused_flags((spelling, "4")) == ()
        assert refused_flags((f"{spelling}=4",)) == ()


def allowed_spellings(judge: Judge) -> list[str]:
    options: list[Option] = [o for o in judge.worker.options() if not is_owned(o)]
    return [spelling for option in options for spelling in option["spellings"]]


def test_no_allowed_flag_contradicts_what_the_operator_sets(
    judge: Judge, pytestconfig: pytest.Config
) -> None:
    """One use of each flag; with --all-versions every use that there is a value for."""
    every = pytestconfig.getoption("--all-versions", default=False)
    tried = [
        use
        for option in judge.worker.options()
        for use in (uses(option) if every else uses(option)[:1])
        if not refused_flags(use)
    ]
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
def test_no_allowed_flags_together_contradict_what_the_operator_sets(
    judge: Judge, data: st.DataObject
) -> None:
    every_use = [use for option in judge.worker.options() for use in uses(option)]
    combination = st.lists(st.sampled_from(every_use), min_size=2, max_size=4).map(
        lambda uses_: tuple(argument for use in uses_ for argument in use)
    )
    drawn = data.draw(st.lists(combination, min_size=10, max_size=10))
    assert contradictions(judge, [line for line in drawn if not refused_flags(line)]) == []


def contradictions(judge: Judge, candidates: list[tuple[str, ...]]) -> list[tuple[str, str]]:
    """Arguments that SGLang takes alone but refuses in a group's line, with its last words."""
    in_group = judge.verdicts(judge.leader(launch(extra_args=extra)) for extra in candidates)
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
