"""Fewer ranks: when it is acted on, and by which strategy."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.plan import moves, states, world

from elasticep.api.models import GroupSpec
from elasticep.plan.actions import RequestScale
from elasticep.plan.planner import plan
from elasticep.world.engine import CompletionSucceeded, EngineState
from elasticep.world.snapshot import Refusal, Snapshot

OLD, NEXT = world.leader().name, f"lite-leader-{moves.NEXT}"


def small(replicas: int = 1, **scale_down: Any) -> GroupSpec:
    return world.spec(replicas=replicas, scaleDown={**moves.AT_ONCE, **scale_down})


def wanting(spec: GroupSpec, state: Snapshot | None = None) -> Snapshot:
    return states.wanting(spec, state or states.serving(8, 4, 6))


def able(effective: int, *safe: int, **changes: Any) -> EngineState:
    """An engine that can give ranks back."""
    return world.engine(effective, safe_to_terminate=frozenset(safe), **changes)


def test_a_smaller_size_is_waited_with_until_it_has_held() -> None:
    spec = small(stabilizationSeconds=300)

    early = plan(moves.told(wanting(spec), seconds=299))
    late = plan(moves.told(wanting(spec), seconds=301))

    assert early.actions == ()
    assert states.condition(early.status, "ScalingDown") == ("True", "Stabilizing")
    assert early.look_again == timedelta(seconds=1)
    assert moves.done(late) == [("create", NEXT)]


def test_a_larger_size_that_comes_meanwhile_costs_nothing() -> None:
    waiting = moves.told(wanting(small(stabilizationSeconds=300)), seconds=200)

    planned = plan(states.wanting(world.spec(), waiting))

    assert planned.actions == ()
    assert planned.status.scale_down is None
    assert states.condition(planned.status, "Ready")[0] == "True"


@pytest.mark.parametrize(
    ("first", "then", "begins"),
    [(1, 2, True), (2, 1, False)],
    ids=["less is given back than was asked for", "more is"],
)
def test_what_counts_is_how_long_no_more_was_asked_for(first: int, then: int, begins: bool) -> None:
    waiting = moves.told(wanting(small(first, stabilizationSeconds=300)), seconds=200)
    lowered = moves.told(
        states.wanting(small(then, stabilizationSeconds=300), waiting), seconds=101
    )

    assert bool(plan(lowered).actions) is begins


def test_disabled_reports_a_smaller_size_and_moves_nothing() -> None:
    planned = plan(wanting(small(strategy="Disabled")))

    assert planned.actions == ()
    assert states.condition(planned.status, "ScaleLimited") == ("True", "ScaleDownDisabled")
    assert states.condition(planned.status, "Stalled")[0] == "False"
    assert planned.look_again is None


def test_restart_takes_the_traffic_off_before_anything_ends() -> None:
    planned = plan(wanting(small(strategy="Restart")))

    assert moves.done(planned) == [("no traffic", OLD)]
    assert planned.status.replicas == 0
    assert [each.kind for each in planned.status.retiring] == ["ScaleDown"]


def test_restart_begins_again_when_the_last_pod_is_gone_and_not_before() -> None:
    drained = moves.changed(
        moves.told(wanting(small(strategy="Restart"))), "leader-uid", serving=False
    )
    drained = replace(moves.told(drained, seconds=10), loads={world.INCARNATION: 0})

    ends = plan(drained)
    holds = plan(moves.gone(moves.told(drained), "leader-uid"))
    begins = plan(moves.gone(moves.told(drained), "leader-uid", "joiner-4-uid", "joiner-6-uid"))

    assert moves.done(ends) == [("delete", OLD)]
    assert ("create", NEXT) not in moves.done(holds)
    assert moves.done(begins) == [("create", NEXT)]


def test_a_stop_drains_and_the_group_says_so_until_it_is_stopped() -> None:
    state = wanting(small(0))

    first = plan(state)
    last = plan(moves.gone(states.later(state, first, seconds=1), *(pod.uid for pod in state.pods)))

    assert moves.done(first) == [("no traffic", OLD)]
    assert states.condition(first.status, "Ready")[0] == "False"
    assert states.condition(last.status, "Ready") == ("True", "Stopped")
    assert states.condition(last.status, "Available")[0] == "False"
    assert (last.status.replicas, last.status.ep_size.effective) == (0, 0)
    assert last.status.selector
    assert last.actions == ()


def test_a_stop_amid_a_surge_ends_both_incarnations() -> None:
    state = moves.told(wanting(small()))
    state = moves.beside(state, moves.next_leader(small(), ready=False, containers=()))

    planned = plan(states.wanting(small(0), state))

    assert sorted(moves.done(planned)) == [("delete", NEXT), ("no traffic", OLD)]
    assert planned.status.move is None


def test_native_asks_the_engine_and_deletes_nothing() -> None:
    planned = plan(replace(wanting(small(strategy="Native")), engine=able(8)))

    (asked,) = planned.actions
    assert isinstance(asked, RequestScale)
    assert asked.target == 4
    assert planned.status.operation is not None
    assert planned.status.operation.kind == "Shrink"
    assert states.condition(planned.status, "ScalingDown")[0] == "True"


@pytest.mark.parametrize(
    ("safe", "deleted"),
    [((), []), ((6, 7), [6]), ((4, 5, 6, 7), [4, 6]), ((7,), [])],
    ids=["none is safe", "the last is", "both are", "half of one is"],
)
def test_native_deletes_a_pod_only_when_all_its_ranks_are_safe(
    safe: tuple[int, ...], deleted: list[int]
) -> None:
    asked = moves.told(moves.told(replace(wanting(small(strategy="Native")), engine=able(8))))
    shrunk = able(4, *safe, phase="serving_shrunk")

    settled = moves.told(replace(asked, engine=shrunk, completion=CompletionSucceeded()))
    planned = plan(settled)

    assert moves.done(planned) == [("delete", world.joiner(offset).name) for offset in deleted]


def test_native_with_no_word_on_safety_deletes_nothing() -> None:
    asked = moves.told(moves.told(replace(wanting(small(strategy="Native")), engine=able(8))))
    unsure = world.engine(4, phase="serving_shrunk")

    settled = moves.told(replace(asked, engine=unsure, completion=CompletionSucceeded()))

    assert moves.done(plan(settled)) == []


def test_native_falls_back_for_an_engine_that_cannot() -> None:
    planned = plan(wanting(small(strategy="Native", fallback="Surge")))

    assert moves.done(planned) == [("create", NEXT)]


def test_native_falls_back_when_the_engine_refuses_and_says_so() -> None:
    state = replace(wanting(small(strategy="Native")), engine=able(8))
    refusal = Refusal(
        subject="EP size 4", reason="ScaleRejected", message="not reliable", by_engine=True
    )

    refused = plan(replace(moves.told(state), refusals=(refusal,)))
    planned = plan(states.later(state, refused, seconds=1))

    assert refused.status.failures is None
    assert moves.done(planned) == [("create", NEXT)]
    assert planned.status.move is not None
    assert "not reliable" in planned.status.move.message


def test_native_that_is_refused_and_may_not_fall_back_asks_no_more() -> None:
    spec = small(strategy="Native", fallback="Disabled")
    state = replace(wanting(spec), engine=able(8))
    refusal = Refusal(
        subject="EP size 4", reason="ScaleRejected", message="not reliable", by_engine=True
    )
    refused = plan(replace(moves.told(state), refusals=(refusal,)))

    kept = moves.told(states.later(state, refused, seconds=1))
    planned = plan(kept)

    assert planned.actions == ()
    assert planned.status == kept.group.status
    assert states.condition(planned.status, "ScaleLimited") == ("True", "ScaleDownDisabled")
    assert states.condition(planned.status, "ScalingDown")[0] == "False"
    limited = next(c for c in planned.status.conditions if c.type == "ScaleLimited")
    assert "not reliable" in limited.message


def test_a_retired_joiner_is_not_taken_for_the_next_one() -> None:
    asked = moves.told(moves.told(replace(wanting(small(2, strategy="Native")), engine=able(8))))
    shrunk = replace(
        asked, engine=able(6, phase="serving_shrunk"), completion=CompletionSucceeded()
    )

    planned = plan(states.wanting(world.spec(), moves.told(moves.told(shrunk))))

    assert planned.actions == ()
    assert planned.status.joiners[-1].state.value == "Retired"


def test_surge_recovery_lets_what_is_left_go_on() -> None:
    spec = world.spec(recovery={"strategy": "Surge"})
    lost = states.wanting(spec, states.serving(8, 4))

    first = plan(lost)
    second = plan(states.later(lost, first, seconds=11))

    assert moves.done(first) == []
    assert first.status.failures is not None
    assert first.status.failures.reason == "RankLost"
    assert states.condition(first.status, "Available")[0] == "True"
    assert moves.done(second) == [("create", NEXT)]


@pytest.mark.parametrize("change", [{"replicas": 0}, {"replicas": 1}, {"maxEPSize": 10}])
def test_paused_begins_no_move(change: dict[str, Any]) -> None:
    spec = world.spec(paused=True, scaleDown=moves.AT_ONCE, **change)

    planned = plan(wanting(spec))

    assert planned.actions == ()
    assert planned.status.retiring == ()
    assert planned.status.move is None
    assert states.condition(planned.status, "Ready") == ("False", "Paused")
