"""Moves that something comes in between of: a fault, a late answer, another wish."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.plan import moves, states, world

from elasticep.api.models import GroupStatus
from elasticep.plan.actions import DeletePod
from elasticep.plan.events import events_between
from elasticep.plan.planner import plan
from elasticep.plan.template_hash import template_hash
from elasticep.world.snapshot import Snapshot

SMALL = world.spec(replicas=1, scaleDown=moves.AT_ONCE)
STOPPED = world.spec(replicas=0)
NEW_IMAGE = world.spec(replicas=1, engine={"image": "lmsysorg/sglang:v0.5.20"})
OLD, NEXT = world.leader().name, f"lite-leader-{moves.NEXT}"


def draining(*, ready: bool = True) -> Snapshot:
    """A group that is stopped: its leader gets no requests any more, and has some."""
    state = moves.told(states.wanting(STOPPED, states.serving(4)))
    return moves.told(moves.changed(state, "leader-uid", serving=False, ready=ready))


def waiting_for_room(**leader: object) -> Snapshot:
    """A group of 8 whose successor has waited for a node since the move began."""
    pending = moves.next_leader(
        SMALL, node="", ip="", ready=False, containers=(), unschedulable="0/3", scheduled_at=None
    )
    state = moves.told(states.wanting(SMALL, states.serving(8, 4, 6)))
    return moves.changed(moves.beside(state, pending), "next-leader-uid", **leader)


def test_a_busy_leader_that_misses_a_probe_and_a_look_keeps_its_time() -> None:
    planned = plan(moves.told(draining(ready=False), seconds=60))

    assert planned.actions == ()


def test_a_leader_that_is_out_of_time_still_gets_its_pods_own_grace_period() -> None:
    planned = plan(moves.told(draining(ready=False), seconds=121))

    (deletion,) = planned.actions
    assert isinstance(deletion, DeletePod)
    assert deletion.grace_seconds is None


def test_a_drain_that_is_on_no_record_any_more_is_begun_again() -> None:
    """Somebody wiped the status; the label tells that the leader may have requests."""
    wiped = moves.changed(states.serving(4), "leader-uid", serving=False, has_served=True)

    planned = plan(states.wanting(STOPPED, wiped))

    assert planned.actions == ()
    assert planned.status.retiring[0].since == world.NOW


@pytest.mark.parametrize(("seconds", "ends"), [(1, False), (6, True)])
def test_no_drain_is_over_before_every_node_knows(seconds: int, ends: bool) -> None:
    impatient = world.spec(replicas=0, scaleDown={"drainSeconds": 0})

    planned = plan(moves.told(states.wanting(impatient, draining()), seconds=seconds))

    assert bool(planned.actions) is ends


def test_another_drain_time_counts_at_once() -> None:
    shorter = world.spec(replicas=0, scaleDown={"drainSeconds": 30})

    planned = plan(moves.told(states.wanting(shorter, draining()), seconds=31))

    assert moves.done(planned) == [("delete", OLD)]


def test_a_leader_pod_that_arrives_late_does_not_depose_the_one_that_serves() -> None:
    """The request that made it was on its way when the move was dropped."""
    known = moves.told(states.serving(8, 4, 6))
    late = moves.next_leader(world.spec(), ready=False, containers=())

    planned = plan(moves.beside(known, late))

    assert moves.done(planned) == [("delete", NEXT)]
    assert planned.status.incarnation is not None
    assert planned.status.incarnation.id == world.INCARNATION


def test_room_that_comes_late_is_taken() -> None:
    late = world.NOW + timedelta(days=3)
    placed = waiting_for_room(node="node-c", unschedulable="", scheduled_at=late)

    planned = plan(replace(placed, now=late + timedelta(seconds=5)))

    assert planned.actions == ()
    assert planned.status.failures is None


def test_the_advice_names_the_strategy_that_counts_now() -> None:
    state = waiting_for_room(template_hash=template_hash(NEW_IMAGE))

    planned = plan(states.wanting(NEW_IMAGE, state))

    limited = next(c for c in planned.status.conditions if c.type == "ScaleLimited")
    assert limited.reason == "InsufficientCapacity"
    assert "spec.rollout.strategy to Restart" in limited.message
    assert planned.status.move is not None
    assert planned.status.move.kind == "RollOut"


def test_a_roll_out_that_is_taken_back_leaves_the_smaller_size_its_time() -> None:
    state = moves.told(states.wanting(NEW_IMAGE, states.serving(8, 4, 6)))

    back = moves.told(states.wanting(world.spec(replicas=1), state))
    planned = plan(back)

    assert planned.actions == ()
    assert states.condition(planned.status, "ScalingDown") == ("True", "Stabilizing")


@pytest.mark.parametrize("strategy", ["Disabled", "Surge"])
def test_a_leader_that_hangs_is_not_hidden_by_a_smaller_size(strategy: str) -> None:
    spec = world.spec(replicas=1, scaleDown={"strategy": strategy})
    hangs = moves.changed(states.serving(8, 4, 6), "leader-uid", ready=False)
    state = moves.told(states.wanting(spec, hangs))

    early, late = plan(state), plan(replace(state, now=world.NOW + timedelta(hours=2)))

    assert early.look_again is not None
    assert late.status.failures is not None
    assert late.status.failures.reason == "LeaderSilent"


def test_what_serves_again_for_want_of_its_successor_is_available() -> None:
    state = moves.told(states.wanting(SMALL, states.serving(8, 4, 6)))
    over = moves.told(moves.beside(state, moves.next_leader(SMALL), heard=moves.proven(4)))

    planned = plan(replace(moves.gone(over, "next-leader-uid"), engine=moves.SILENT))

    assert states.condition(planned.status, "Available") == ("True", "Serving")


def test_a_group_that_is_paused_while_it_stops_is_not_said_to_be_stopped() -> None:
    planned = plan(states.wanting(world.spec(replicas=0, paused=True), draining()))

    assert planned.actions == ()
    assert states.condition(planned.status, "Ready") == ("False", "Paused")


def test_what_gave_way_before_a_stop_does_not_come_back_after_it() -> None:
    state = moves.told(states.wanting(NEW_IMAGE, states.serving(4)))
    over = moves.told(moves.beside(state, moves.next_leader(NEW_IMAGE), heard=moves.proven(4)))
    stopped = moves.told(states.wanting(STOPPED, over))

    planned = plan(states.wanting(NEW_IMAGE, stopped))

    assert ("traffic", OLD) not in moves.done(planned)
    assert ("no traffic", OLD) in moves.done(planned)


def test_a_successor_that_is_left_alone_has_not_taken_over() -> None:
    state = moves.told(states.wanting(SMALL, states.serving(8, 4, 6)))

    planned = plan(moves.gone(state, "leader-uid"))

    told = {event.reason for event in events_between(state.group.status, planned.status)}
    assert "TrafficMoved" not in told
    assert planned.status.incarnation is not None
    assert planned.status.incarnation.id == moves.NEXT


def test_the_requests_that_are_left_are_no_reason_to_write() -> None:
    state = moves.told(draining())

    statuses = {
        plan(replace(state, loads={world.INCARNATION: load})).status.model_dump_json()
        for load in (1, 2, 3)
    }

    assert len(statuses) == 1


def test_ranks_that_are_never_called_safe_do_not_hold_up_a_new_image() -> None:
    spec = world.spec(replicas=2, scaleDown={**moves.AT_ONCE, "strategy": "Native"})
    able = world.engine(8, safe_to_terminate=frozenset())
    asked = moves.told(replace(states.wanting(spec, states.serving(8, 4, 6)), engine=able))
    unsafe = replace(
        asked,
        engine=replace(able, effective=6, phase="serving_shrunk"),
        completion=moves.proven(6).completion,
    )

    planned = plan(states.wanting(NEW_IMAGE, moves.told(moves.told(unsafe))))

    assert moves.done(planned) == [("create", NEXT)]


def test_what_an_engine_says_at_length_fits_the_status() -> None:
    spec = world.spec(replicas=1, scaleDown={**moves.AT_ONCE, "strategy": "Native"})
    able = world.engine(8, safe_to_terminate=frozenset())
    asked = moves.told(replace(states.wanting(spec, states.serving(8, 4, 6)), engine=able))
    draining_ranks = moves.told(replace(asked, engine=replace(able, pending=4, phase="draining")))
    refused = replace(able, phase="failed", last_error="no " * 10_000)

    planned = plan(replace(draining_ranks, engine=refused))

    assert planned.status.scale_down is not None
    assert planned.status.scale_down.refusal.startswith("EP size 8 → 4 failed: no no")
    assert GroupStatus.model_validate(planned.status.model_dump()) == planned.status
    assert len(planned.status.scale_down.refusal) <= 1024


def test_a_wait_for_room_does_not_end_a_row_of_crashes() -> None:
    crashed = world.leader(phase="Failed", reason="Evicted", ready=False, serving=False)
    first = plan(world.surrounded(world.snapshot(pods=(crashed,))))
    known = first.status.failures
    assert known is not None
    full = known.changed(reason="QuotaExceeded", count=1, interrupted=known.count)
    state = world.surrounded(world.snapshot(pods=(crashed,), now=world.NOW + timedelta(seconds=40)))

    again = plan(states.recorded(state, failures=full)).status.failures

    assert again is not None
    assert (again.reason, again.count) == ("Evicted", 2)
