"""How an operation in flight ends when nobody saw it end, or when its end is no news."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.plan import states, world

from elasticep.plan.actions import DeletePod, RequestScale
from elasticep.plan.planner import plan
from elasticep.world.pods import Exit
from elasticep.world.snapshot import Snapshot

GRAPHS = "AssertionError: Elastic EP scale-up requires decode CUDA graphs to be disabled"


def test_the_crash_of_a_joiner_is_not_overwritten_by_the_timeout_that_it_causes() -> None:
    ended = Exit(code=1, message=GRAPHS, finished_at=world.NOW)
    crashed = world.joiner(4, ready=False, containers=(replace(world.running(), ready=False),))
    container = replace(crashed.containers[0], running=False, exit=ended)
    busy = states.recorded(
        states.serving(
            engine=world.engine(4, pending=6, phase="waiting_for_cohort"),
            pods=(world.leader(), replace(crashed, containers=(container,))),
        ),
        operation=states.operation(),
    )

    during = plan(busy)
    timed_out = world.engine(4, phase="failed", last_error="Timed out waiting for ranks to join")
    after = plan(replace(states.later(states.serving(4), during, minutes=30), engine=timed_out))

    assert [action.name for action in during.actions if isinstance(action, DeletePod)] == [
        crashed.name
    ]
    assert after.status.operation is None
    assert after.actions == ()
    assert after.status.failures == during.status.failures
    assert states.condition(after.status, "Stalled") == ("True", "CudaGraphEnabled")


def test_an_engine_that_is_at_another_target_has_ended_what_is_on_record() -> None:
    other = states.serving(4, 4, engine=world.engine(4, pending=5, phase="waiting_for_cohort"))
    overdue = states.recorded(other, operation=states.operation())

    planned = plan(replace(overdue, now=world.NOW + timedelta(hours=1)))

    assert planned.status.operation is not None
    assert planned.status.operation.to == 5
    assert planned.status.failures is None


def test_an_operation_at_neither_end_of_which_the_engine_stands_is_over() -> None:
    grown = states.recorded(states.serving(8, 4, 6), operation=states.operation())

    planned = plan(grown)

    assert planned.actions == ()
    assert planned.status.operation is None
    assert planned.status.failures is None
    assert states.condition(planned.status, "Ready") == ("True", "AllRanksServing")


def asked(phase: str, *, engine_phase: str = "idle") -> Snapshot:
    """A growth on record of which the engine, which answers, shows no sign."""
    state = states.serving(4, 4, engine=world.engine(4, phase=engine_phase))
    return states.recorded(state, operation=states.operation(phase=phase))


def test_a_growth_that_waited_on_record_for_an_operator_gets_its_whole_time() -> None:
    """It had been asked for, and timed out while no operator ran."""
    state = replace(asked("Recorded", engine_phase="failed"), now=world.NOW + timedelta(hours=1))

    again = plan(state)
    busy = world.engine(4, pending=6, phase="waiting_for_cohort")
    followed = plan(states.later(replace(state, engine=busy), again, seconds=2))

    assert [type(action) for action in again.actions] == [RequestScale]
    assert again.status.operation is not None
    assert again.status.operation.phase == "AskingAgain"
    assert followed.actions == ()
    assert followed.status.failures is None


def test_an_engine_that_never_begins_is_asked_for_a_minute_and_then_after_a_back_off() -> None:
    """Every request is answered with a server error, say."""
    first = plan(asked("Recorded"))
    soon = plan(states.later(asked("Recorded"), first, seconds=59))
    late = plan(states.later(asked("Recorded"), first, seconds=61))

    assert [type(action) for action in soon.actions] == [RequestScale]
    assert soon.status == first.status
    assert late.actions == ()
    assert late.status.failures is not None
    assert late.status.failures.reason == "ScaleUpFailed"
    assert late.look_again == timedelta(seconds=10)


def test_an_engine_that_gives_up_at_once_is_not_asked_at_every_look() -> None:
    planned = plan(asked("AskingAgain", engine_phase="failed"))

    assert [type(action) for action in planned.actions] == [DeletePod]
    assert planned.status.failures is not None


@pytest.mark.parametrize("ready", [True, False])
def test_an_overdue_operation_ends_no_group_whose_leader_is_ready(ready: bool) -> None:
    """The first look after an outage of the operator; its request to the leader got lost."""
    busy = world.engine(4, pending=6, phase="waiting_for_cohort")
    pods = (world.leader(ready=ready), world.joiner(4))
    state = states.recorded(states.serving(4, pods=pods, engine=busy), operation=states.operation())

    planned = plan(replace(state, now=world.NOW + timedelta(hours=1)))

    assert [type(action) for action in planned.actions] == ([] if ready else [DeletePod] * 2)
    assert (planned.status.operation is not None) is ready
    assert states.condition(planned.status, "ScaleLimited") == ("True", "OperationOverdue")
