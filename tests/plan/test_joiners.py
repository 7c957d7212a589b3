"""One joiner: when it is made, under which name, and when it counts as joined."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.plan import states, world

from elasticep.api.reasons import Engine
from elasticep.plan.actions import CreatePod, DeletePod
from elasticep.plan.planner import plan
from elasticep.world.engine import CompletionFailed, EngineUnknown
from elasticep.world.pods import Container, Exit
from elasticep.world.snapshot import Snapshot


def beside(gone_by: timedelta) -> Snapshot:
    """A leader that serves, and a joiner that is being deleted."""
    leaving = world.joiner(4, gone_by=world.NOW + gone_by)
    return states.serving(4, pods=(world.leader(), leaving))


def test_a_joiner_is_not_made_before_its_predecessor_has_given_up_its_gpus() -> None:
    planned = plan(beside(timedelta(seconds=10)))

    assert planned.actions == ()
    assert states.condition(planned.status, "Ready") == ("False", "WaitingForOldPods")


def test_a_predecessor_on_a_lost_node_does_not_keep_the_name_for_ever() -> None:
    state = beside(timedelta(minutes=-1))

    planned = plan(state)
    again = plan(state)

    (made,) = planned.actions
    assert isinstance(made, CreatePod)
    assert made.manifest["metadata"]["name"] != world.joiner(4).name
    assert again.actions == planned.actions


@pytest.mark.parametrize("replicas", [1, 3])
def test_a_lost_joiner_is_made_again_for_an_operation_only_while_it_is_wanted(
    replicas: int,
) -> None:
    busy = states.serving(engine=world.engine(4, pending=6, phase="waiting_for_cohort"))
    state = states.recorded(busy, operation=states.operation())

    planned = plan(states.wanting(world.spec(replicas=replicas), state))

    assert len(planned.actions) == (1 if replicas == 3 else 0)
    assert planned.status.operation is not None


@pytest.mark.parametrize("ready", [True, False])
def test_one_failed_proof_after_an_outage_of_the_operator_ends_no_serving_group(
    ready: bool,
) -> None:
    """The growth went through while nobody looked, for longer than it was given."""
    pods = (world.leader(ready=ready), world.joiner(4))
    state = states.serving(6, pods=pods, completion=CompletionFailed(message="timed out"))
    grown = states.recorded(state, operation=states.operation())
    found = replace(grown, now=world.NOW + timedelta(hours=2))

    first = plan(found)
    failure = plan(states.later(found, first, minutes=2)).status.failures

    assert first.actions == ()
    assert first.status.operation is not None
    assert (failure.reason if failure else None) == (None if ready else "OperationOverdue")


def crashing(*, joined: bool) -> Snapshot:
    """An engine that refuses the operator's key, and a joiner that keeps exiting."""
    known = plan(states.serving(6 if joined else 4, 4))
    ended = Exit(code=1, message="nobody came", finished_at=world.NOW)
    container = Container(
        name="engine", restarts=2, waiting_reason="CrashLoopBackOff", last_exit=ended
    )
    looping = world.joiner(4, ready=False, containers=(container,))
    silent = EngineUnknown(reason=Engine.UNAUTHORIZED, message="another key")
    return states.later(states.serving(pods=(world.leader(), looping), engine=silent), known)


def test_a_joiner_that_crashes_holds_no_gpus_while_the_engine_cannot_be_asked() -> None:
    planned = plan(crashing(joined=False))

    assert [type(action) for action in planned.actions] == [DeletePod]
    assert planned.status.failures is not None
    assert planned.status.failures.reason == "EngineCrashed"
    assert states.condition(planned.status, "Stalled") == ("True", "EngineUnauthorized")


def test_a_joiner_that_has_joined_is_not_ended_before_the_engine_was_asked() -> None:
    assert plan(crashing(joined=True)).actions == ()


@pytest.mark.parametrize("busy", [True, False])
def test_a_failed_joiner_that_outlived_its_record_is_deleted_and_not_counted_again(
    busy: bool,
) -> None:
    """The operator died after the failure was on record and before it deleted the pod."""
    evicted = world.joiner(4, phase="Failed", reason="Evicted", ready=False)
    state = states.serving(4, pods=(world.leader(), evicted))
    if busy:
        pending = world.engine(4, pending=6, phase="waiting_for_cohort")
        state = states.recorded(replace(state, engine=pending), operation=states.operation())
    first = plan(state)

    again = plan(states.later(state, first, seconds=1))

    assert [type(action) for action in again.actions] == [DeletePod]
    assert again.status.failures == first.status.failures


def test_an_engine_in_a_phase_of_its_own_is_not_asked_for_more() -> None:
    busy = states.serving(6, 4, 6, engine=world.engine(6, phase="warming_up"))

    planned = plan(busy)

    assert planned.actions == ()
    assert planned.status.operation is None
    assert states.condition(planned.status, "Ready") == ("False", "WarmingUp")
    assert planned.look_again is not None


def test_a_joiner_that_runs_again_may_be_admitted_and_is_not_deleted_meanwhile() -> None:
    ended = Exit(code=1, message="out of memory", finished_at=world.NOW)
    again = replace(world.running(restarts=3), ready=False, last_exit=ended)
    growing = states.serving(4, 4, engine=world.engine(4, pending=6, phase="waiting_for_cohort"))
    state = states.recorded(growing, operation=states.operation())
    pods = tuple(
        replace(pod, containers=(again,)) if pod.offset == 4 else pod for pod in state.pods
    )

    heard = plan(replace(state, pods=pods))
    unheard = plan(replace(state, pods=pods, engine=world.LOADING))

    assert [planned.actions for planned in (heard, unheard)] == [(), ()]
