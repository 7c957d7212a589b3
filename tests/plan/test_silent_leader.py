"""How long an engine may be silent before its group starts again."""

from dataclasses import replace
from datetime import timedelta

from tests.plan import states, world

from elasticep.plan.actions import DeletePod
from elasticep.plan.decision import Plan
from elasticep.plan.planner import plan
from elasticep.world.snapshot import Snapshot

SERVING = states.serving(4)
SILENT = replace(SERVING, engine=world.LOADING, pods=(world.leader(ready=False),))
ALLOWED = timedelta(seconds=world.spec().engine.start_timeout_seconds)


def after(state: Snapshot, span: timedelta) -> Plan:
    """The plan for a state that was first seen before ``span``, and serving before that."""
    seen = plan(states.later(state, plan(SERVING), seconds=1))
    return plan(states.later(state, seen, seconds=1 + span.total_seconds()))


def test_a_leader_that_has_served_is_waited_for_and_then_started_again() -> None:
    patient = after(SILENT, ALLOWED - timedelta(seconds=5))
    spent = after(SILENT, ALLOWED + timedelta(seconds=5))

    assert patient.actions == ()
    assert patient.status.failures is None
    assert [type(action) for action in spent.actions] == [DeletePod]
    assert spent.status.failures is not None
    assert spent.status.failures.reason == "LeaderSilent"


def test_a_leader_that_answers_and_serves_nobody_is_started_again() -> None:
    """A lost rank can leave an engine that reports its size and generates nothing."""
    broken = replace(SERVING, pods=(world.leader(ready=False),))
    small = states.wanting(world.spec(replicas=1), broken)

    patient = after(small, ALLOWED - timedelta(seconds=5))
    spent = after(small, ALLOWED + timedelta(seconds=5))

    assert patient.actions == ()
    assert patient.look_again is not None
    assert spent.status.failures is not None
    assert spent.status.failures.reason == "LeaderSilent"


def test_a_leader_that_has_not_begun_to_serve_in_time_is_started_again() -> None:
    loading = replace(SILENT, pods=(world.leader(ready=False, serving=False),))

    planned = plan(replace(loading, now=world.NOW + ALLOWED))

    assert planned.status.failures is not None
    assert planned.status.failures.reason == "LeaderStartOverdue"


def test_a_leader_that_is_ready_is_never_ended_because_the_operator_cannot_reach_it() -> None:
    cut_off = replace(SERVING, engine=world.LOADING)
    busy = states.recorded(cut_off, operation=states.operation())

    planned = plan(replace(busy, now=world.NOW + timedelta(days=1)))

    assert planned.actions == ()
    assert planned.status.failures is None
    assert planned.status.operation == states.operation()
    assert states.condition(planned.status, "Available") == ("Unknown", "EngineUnreachable")
