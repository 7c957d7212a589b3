"""A second incarnation beside the one that serves: who gets the traffic, and who goes when."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.plan import moves, states, world

from elasticep.api.models import GroupSpec
from elasticep.plan.actions import DeletePod
from elasticep.plan.planner import plan
from elasticep.world.engine import CompletionFailed, Hearing
from elasticep.world.pods import Exit
from elasticep.world.snapshot import Snapshot

SMALL = world.spec(replicas=1, scaleDown=moves.AT_ONCE)
NEW_IMAGE = world.spec(replicas=1, engine={"image": "lmsysorg/sglang:v0.5.20"})
OLD, NEXT = world.leader().name, f"lite-leader-{moves.NEXT}"
SETTLED = timedelta(seconds=6)
OLD_JOINERS = [world.joiner(4).name, world.joiner(6).name]


def surging(spec: GroupSpec = SMALL) -> Snapshot:
    """A group of 8 whose successor of 4 has been put on record, and has no pod yet."""
    return moves.told(states.wanting(spec, states.serving(8, 4, 6)))


def taken_over(spec: GroupSpec = SMALL) -> Snapshot:
    """The successor serves and gets the traffic; the old leader does not know yet."""
    state = moves.beside(surging(spec), moves.next_leader(spec), heard=moves.proven(4))
    state = moves.told(state)
    next_look = moves.changed(state, "next-leader-uid", serving=True)
    return replace(next_look, engine=world.engine(4), successor=None)


def test_a_smaller_size_begins_a_second_incarnation_and_touches_nothing_that_serves() -> None:
    planned = plan(states.wanting(SMALL, states.serving(8, 4, 6)))

    assert moves.done(planned) == [("create", NEXT)]
    assert planned.status.move is not None
    assert planned.status.move.kind == "ScaleDown"
    assert planned.status.ep_size.effective == 8
    assert planned.status.replicas == 3
    assert states.condition(planned.status, "Available")[0] == "True"
    assert states.condition(planned.status, "ScalingDown")[0] == "True"
    assert states.condition(planned.status, "Ready")[0] == "False"


@pytest.mark.parametrize(
    "heard",
    [
        None,
        Hearing(engine=world.engine(4)),
        Hearing(engine=world.engine(4), completion=CompletionFailed(message="500")),
        Hearing(engine=world.LOADING),
    ],
    ids=["not asked", "unproven", "broken", "loading"],
)
def test_no_traffic_moves_before_a_completion_has_proven_the_successor(
    heard: Hearing | None,
) -> None:
    state = moves.beside(surging(), moves.next_leader(SMALL), heard=heard)

    planned = plan(state)

    assert moves.done(planned) == []
    assert planned.status.incarnation is not None
    assert planned.status.incarnation.id == world.INCARNATION
    assert planned.look_again is not None


def test_traffic_goes_to_the_successor_before_it_leaves_the_old_leader() -> None:
    state = moves.beside(surging(), moves.next_leader(SMALL), heard=moves.proven(4))

    first = plan(state)
    second = plan(taken_over())

    assert moves.done(first) == [("traffic", NEXT)]
    assert first.status.incarnation is not None
    assert first.status.incarnation.id == moves.NEXT
    assert moves.done(second) == [("no traffic", OLD)]


def test_once_the_successor_serves_the_group_is_ready_and_the_old_one_still_reconciling() -> None:
    planned = plan(taken_over())

    assert states.condition(planned.status, "Ready")[0] == "True"
    assert states.condition(planned.status, "Reconciling") == ("True", "DrainingIncarnation")
    assert planned.status.ep_size.effective == 4
    assert planned.status.replicas == 1


@pytest.mark.parametrize(
    ("load", "seconds", "ends"),
    [(0, 1, False), (0, 6, True), (3, 60, False), (3, 121, True), (None, 60, False)],
    ids=["too early", "idle", "busy", "out of time", "unknown"],
)
def test_the_old_leader_ends_when_its_requests_are_done(
    load: int | None, seconds: float, ends: bool
) -> None:
    state = moves.changed(moves.told(taken_over()), "leader-uid", serving=False)
    drained = moves.told(state, seconds=seconds)
    loads = {} if load is None else {world.INCARNATION: load}

    planned = plan(replace(drained, loads=loads))

    assert moves.done(planned) == ([("delete", OLD)] if ends else [])


def test_a_stop_ends_the_old_leader_too_and_does_not_wait_for_another_one_to_serve() -> None:
    state = moves.changed(moves.told(taken_over()), "leader-uid", serving=False)
    stopped = states.wanting(world.spec(replicas=0), moves.told(state))

    planned = plan(replace(stopped, loads={world.INCARNATION: 0}, now=stopped.now + SETTLED))
    alone = plan(moves.gone(moves.told(stopped, seconds=10), "next-leader-uid"))

    assert ("traffic", OLD) not in moves.done(planned)
    assert ("traffic", OLD) not in moves.done(alone)
    assert ("delete", OLD) in moves.done(planned)


def test_the_old_joiners_stay_until_their_leader_is_gone() -> None:
    state = moves.changed(moves.told(taken_over()), "leader-uid", serving=False)
    state = moves.leaving(moves.told(state, seconds=200), "leader-uid")

    while_it_ends = plan(state)
    afterwards = plan(moves.gone(state, "leader-uid"))

    assert moves.done(while_it_ends) == []
    assert moves.done(afterwards) == [("delete", name) for name in OLD_JOINERS]


def test_a_move_is_over_when_the_last_old_pod_is_gone() -> None:
    state = moves.told(taken_over())
    state = moves.gone(state, "leader-uid", "joiner-4-uid", "joiner-6-uid")

    planned = plan(state)

    assert planned.actions == ()
    assert planned.status.retiring == ()
    assert states.condition(planned.status, "Reconciling")[0] == "False"
    assert planned.look_again is None


def test_a_larger_size_that_comes_meanwhile_drops_the_successor() -> None:
    state = moves.beside(surging(), moves.next_leader(SMALL, ready=False))

    planned = plan(states.wanting(world.spec(replicas=3), state))

    assert moves.done(planned) == [("delete", NEXT)]
    assert planned.status.move is None
    assert planned.status.incarnation is not None
    assert planned.status.incarnation.id == world.INCARNATION


def test_a_newer_template_replaces_the_half_made_successor() -> None:
    state = moves.beside(surging(NEW_IMAGE), moves.next_leader(NEW_IMAGE, ready=False))
    newest = world.spec(replicas=1, engine={"image": "lmsysorg/sglang:v0.5.21"})

    planned = plan(states.wanting(newest, state))

    assert moves.done(planned) == [("delete", NEXT)]
    assert planned.status.move is not None
    assert planned.status.move.successor.serial == 3
    assert states.condition(planned.status, "Available")[0] == "True"


def test_a_whole_successor_of_an_older_template_takes_nothing_over() -> None:
    state = moves.beside(surging(NEW_IMAGE), moves.next_leader(NEW_IMAGE), heard=moves.proven(4))
    newest = world.spec(replicas=1, engine={"image": "lmsysorg/sglang:v0.5.21"})

    planned = plan(states.wanting(newest, state))

    assert moves.done(planned) == [("delete", NEXT)]
    assert planned.status.incarnation is not None
    assert planned.status.incarnation.id == world.INCARNATION


def test_a_successor_without_room_leaves_the_old_one_serving_and_says_what_would_do() -> None:
    words = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."
    pending = moves.next_leader(
        SMALL, phase="Pending", node="", ip="", ready=False, containers=(), unschedulable=words
    )

    planned = plan(moves.beside(surging(), pending))

    assert moves.done(planned) == []
    assert states.condition(planned.status, "ScaleLimited") == ("True", "InsufficientCapacity")
    told = next(c for c in planned.status.conditions if c.type == "ScaleLimited").message
    assert words in told
    assert "spec.scaleDown.strategy to Restart" in told
    assert states.condition(planned.status, "Available")[0] == "True"


def test_restart_in_the_spec_meanwhile_is_followed_at_once() -> None:
    state = moves.beside(surging(), moves.next_leader(SMALL, ready=False))
    restart = world.spec(replicas=1, scaleDown={**moves.AT_ONCE, "strategy": "Restart"})

    dropped = states.wanting(restart, state)
    planned = plan(moves.gone(moves.told(dropped), "next-leader-uid"))

    assert planned.status.move is None
    assert [each.ends_first for each in planned.status.retiring] == [True]
    assert moves.done(planned) == [("no traffic", OLD)]


def test_a_successor_that_crashes_is_backed_off_and_the_old_one_serves_on() -> None:
    ended = Exit(code=1, message="CUDA out of memory", finished_at=world.NOW)
    container = replace(world.running(), running=False, ready=False, restarts=3, exit=ended)
    crashed = moves.next_leader(NEW_IMAGE, ready=False, containers=(container,))

    planned = plan(moves.beside(surging(NEW_IMAGE), crashed))

    assert moves.done(planned) == [("delete", NEXT)]
    assert planned.status.failures is not None
    assert planned.status.failures.reason == "GpuOutOfMemory"
    assert planned.status.move is not None
    assert states.condition(planned.status, "Available")[0] == "True"


def test_a_successor_that_takes_too_long_gives_its_gpus_back() -> None:
    late = moves.beside(surging(), moves.next_leader(SMALL, ready=False))

    planned = plan(replace(late, now=world.NOW + timedelta(hours=2, seconds=2)))

    assert moves.done(planned) == [("delete", NEXT)]
    assert planned.status.failures is not None
    assert planned.status.failures.reason == "ProgressDeadlineExceeded"


def test_a_leader_that_is_lost_meanwhile_leaves_the_group_to_the_successor() -> None:
    state = moves.beside(surging(), moves.next_leader(SMALL, ready=False))

    planned = plan(moves.gone(state, "leader-uid"))

    assert moves.done(planned) == [("delete", name) for name in OLD_JOINERS]
    assert planned.status.move is None
    assert planned.status.incarnation is not None
    assert planned.status.incarnation.id == moves.NEXT
    assert planned.status.failures is not None
    assert planned.status.failures.reason == "LeaderLost"


def test_the_old_leader_gets_its_traffic_back_when_the_successor_fails_at_once() -> None:
    state = moves.changed(moves.told(taken_over()), "leader-uid", serving=False)
    state = moves.changed(state, "next-leader-uid", ready=False)

    planned = plan(replace(state, engine=world.LOADING))

    assert ("traffic", OLD) in moves.done(planned)


def test_an_unreachable_leader_is_rolled_out_all_the_same() -> None:
    """Its admin key, or its port, may be what has changed."""
    state = states.serving(4, engine=world.LOADING)

    planned = plan(states.wanting(NEW_IMAGE, state))

    assert moves.done(planned) == [("create", NEXT)]


def test_a_size_that_is_wanted_again_is_forgotten_as_a_smaller_one() -> None:
    slow = world.spec(replicas=1, scaleDown={"stabilizationSeconds": 300})
    waiting = moves.told(states.wanting(slow, states.serving(8, 4, 6)), seconds=301)
    state = moves.beside(moves.told(waiting), moves.next_leader(slow, ready=False))
    dropped = moves.gone(moves.told(states.wanting(world.spec(), state)), "next-leader-uid")

    planned = plan(states.wanting(slow, dropped))

    assert planned.status.move is None
    assert planned.actions == ()


@pytest.mark.parametrize(("ready", "grace"), [(False, 10), (True, None)], ids=["loads", "serves"])
def test_a_leader_that_cannot_have_requests_gives_its_gpus_back_soon(
    ready: bool, grace: int | None
) -> None:
    dropped = states.wanting(
        world.spec(), moves.beside(surging(), moves.next_leader(SMALL, ready=ready))
    )
    drained = moves.told(dropped, seconds=6)

    deleted = [
        action
        for state in (dropped, replace(drained, loads={moves.NEXT: 0}))
        for action in plan(state).actions
        if isinstance(action, DeletePod)
    ]

    assert {action.grace_seconds for action in deleted} == {grace}
