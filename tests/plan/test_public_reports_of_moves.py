"""What other operators got wrong about scaling, rolling out, and scaling to zero.

Each docstring names the reports.
"""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.plan import moves, states, world

from elasticep.api.models import GroupSpec
from elasticep.plan.planner import plan
from elasticep.world.engine import CompletionSucceeded
from elasticep.world.snapshot import Snapshot

NEW_IMAGE = {"image": "lmsysorg/sglang:v0.5.20"}
WORDS = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."
OLD, NEXT = world.leader().name, f"lite-leader-{moves.NEXT}"


def rolling_out(spec: GroupSpec) -> Snapshot:
    """A group of 8, and a successor of another image that finds no node."""
    state = moves.told(states.wanting(spec, states.serving(8, 4, 6)))
    pending = moves.next_leader(
        spec, phase="Pending", node="", ip="", ready=False, containers=(), unschedulable=WORDS
    )
    return moves.told(moves.beside(state, pending))


def test_a_successor_is_no_replica_that_an_autoscaler_could_count() -> None:
    """kubernetes PR#79035: an autoscaler took the surge for size, and the size ran away."""
    spec = world.spec(engine=NEW_IMAGE)
    state = moves.told(states.wanting(spec, states.serving(8, 4, 6)))

    planned = plan(moves.beside(state, moves.next_leader(spec), heard=moves.proven(4)))

    assert planned.status.move is not None
    assert planned.status.replicas == planned.status.ready_replicas == 3
    assert f"incarnation={world.INCARNATION}" in planned.status.selector


def test_a_single_replica_is_rolled_out_without_waiting_for_itself() -> None:
    """lws PR#779: one replica and a surge of one waited for each other."""
    spec = world.spec(replicas=1, engine=NEW_IMAGE)

    planned = plan(states.wanting(spec, states.serving(4)))

    assert moves.done(planned) == [("create", NEXT)]


@pytest.mark.parametrize("replicas", [0, 1, 2])
def test_a_size_that_changes_amid_a_roll_out_without_room_is_no_deadlock(replicas: int) -> None:
    """lws PR#996: the roll-out waited for room, and the scale-down for the roll-out."""
    stuck = rolling_out(world.spec(engine=NEW_IMAGE))
    changed = states.wanting(world.spec(replicas=replicas, engine=NEW_IMAGE), stuck)
    begun = moves.gone(changed, "next-leader-uid")
    spec = world.spec(replicas=replicas, engine=NEW_IMAGE)
    roomy = moves.beside(begun, moves.next_leader(spec), heard=moves.proven(4))

    planned = plan(changed if replicas == 0 else roomy)

    goes_on = {0: ("no traffic", OLD), 1: ("traffic", NEXT), 2: ("create", "lite-joiner-4-")}
    verb, name = goes_on[replicas]
    assert any(done[0] == verb and done[1].startswith(name) for done in moves.done(planned))


def test_a_roll_out_that_has_no_room_is_cancelled_by_the_old_spec() -> None:
    """ai-dynamo/dynamo#12428: a target beyond the capacity must be told, and can be taken back."""
    stuck = rolling_out(world.spec(engine=NEW_IMAGE))

    told, back = plan(stuck), plan(states.wanting(world.spec(), stuck))

    assert states.condition(told.status, "ScaleLimited") == ("True", "InsufficientCapacity")
    assert moves.done(back) == [("delete", NEXT)]
    assert back.status.move is None
    assert states.condition(back.status, "ScaleLimited")[0] == "False"


def test_a_roll_out_that_never_ends_gets_a_name() -> None:
    """vllm-project/aibrix#2534: a roll-out that stays in progress for ever."""
    spec = world.spec(engine=NEW_IMAGE)
    state = moves.told(states.wanting(spec, states.serving(8, 4, 6)))
    loading = moves.beside(state, moves.next_leader(spec, ready=False))

    planned = plan(replace(loading, now=world.NOW + timedelta(hours=2, seconds=2)))

    assert states.condition(planned.status, "Ready") == ("False", "ProgressDeadlineExceeded")
    assert states.condition(planned.status, "Available")[0] == "True"


def test_every_step_of_a_move_is_looked_at_again_without_an_event() -> None:
    """rbg#464: one event was lost, and the roll-out stood still."""
    spec = world.spec(replicas=1, engine=NEW_IMAGE)
    begun = moves.told(states.wanting(spec, states.serving(4)))
    made = moves.beside(begun, moves.next_leader(spec, ready=False))
    ready = moves.beside(begun, moves.next_leader(spec), heard=moves.proven(4))
    over = moves.changed(moves.told(ready), "next-leader-uid", serving=True)
    drained = moves.changed(over, "leader-uid", serving=False)

    for state in (begun, made, ready, over, drained, moves.leaving(drained, "leader-uid")):
        planned = plan(state)
        assert planned.actions or planned.look_again is not None
        assert planned.look_again is not None


def test_zero_is_a_size_from_which_a_group_comes_back() -> None:
    """grove#808, kedacore/keda#226, #6414, dynamo PR#11536: to zero, and from zero."""
    running = states.serving(4)
    stopping = moves.told(states.wanting(world.spec(replicas=0), running))
    stopped = moves.told(replace(moves.gone(stopping, "leader-uid"), engine=moves.SILENT))

    rests, starts = plan(stopped), plan(states.wanting(world.spec(replicas=1), stopped))

    assert rests.status == stopped.group.status
    assert rests.look_again is None
    assert rests.status.selector
    assert moves.done(starts) == [("create", NEXT)]


def test_the_status_of_a_second_shrink_is_not_that_of_the_first() -> None:
    """opensearch-k8s-operator#961: a stale entry made the next victim skip its drain."""
    spec = world.spec(replicas=2, scaleDown={**moves.AT_ONCE, "strategy": "Native"})
    able = world.engine(8, safe_to_terminate=frozenset({6, 7}))
    first = moves.told(replace(states.wanting(spec, states.serving(8, 4, 6)), engine=able))
    shrunk = replace(
        first,
        engine=replace(able, effective=6, phase="serving_shrunk"),
        completion=CompletionSucceeded(),
    )
    released = moves.gone(moves.told(moves.told(shrunk)), "joiner-6-uid")
    smaller = world.spec(replicas=1, scaleDown={**moves.AT_ONCE, "strategy": "Native"})

    planned = plan(states.wanting(smaller, moves.told(released)))

    assert [done[0] for done in moves.done(planned)] == ["RequestScale"]
    assert planned.status.operation is not None
    assert (planned.status.operation.from_, planned.status.operation.to) == (6, 4)


def test_nothing_about_a_serving_group_changes_when_only_policies_do() -> None:
    """lws#225, kuberay#2315: a restart or an upgrade of the operator rolled everything."""
    known = moves.told(states.serving(8, 4, 6))
    policies = world.spec(
        scaleDown={"strategy": "Restart", "drainSeconds": 5},
        rollout={"strategy": "Restart"},
        recovery={"strategy": "Surge", "maxRestarts": 1},
    )

    planned = plan(states.wanting(policies, known))

    assert planned.status.move is None
    assert planned.status.retiring == ()
    assert states.condition(planned.status, "Ready")[0] == "True"
