"""A successor that has failed: what is said of it, and when it gives its GPUs back."""

from dataclasses import replace
from datetime import timedelta

from tests.plan import moves, states, world

from elasticep.api import names
from elasticep.plan.planner import plan
from elasticep.plan.template_hash import template_hash
from elasticep.world.engine import Hearing
from elasticep.world.pods import Exit
from elasticep.world.snapshot import Snapshot

NEXT = f"lite-leader-{moves.NEXT}"


def stopped_for_good() -> Snapshot:
    """A successor whose joiner has failed of something that stays; its leader holds its GPUs."""
    words = "AssertionError: Elastic EP requires prefill and decode CUDA graphs to be disabled"
    spec = world.spec(replicas=2, engine={"image": "lmsysorg/sglang:v0.5.20"})
    surging = moves.told(states.wanting(spec, states.serving(8, 4, 6)))
    leader = moves.next_leader(spec)
    ended = Exit(code=1, message=words, finished_at=world.NOW)
    crashed = replace(world.running(), running=False, ready=False, exit=ended)
    life = names.short_hash("next-leader-uid", "containerd://next")
    joiner = replace(
        world.joiner(4, incarnation=moves.NEXT, serial=2, leader_life=life, containers=(crashed,)),
        name="next-joiner",
        uid="next-joiner-uid",
    )
    state = moves.beside(surging, leader, joiner, heard=Hearing(engine=world.engine(4)))
    return moves.gone(moves.told(state), joiner.uid)


def test_what_stopped_a_successor_is_still_said_when_it_is_late_as_well() -> None:
    late = plan(replace(stopped_for_good(), now=world.NOW + timedelta(hours=2, seconds=2)))

    assert moves.done(late) == [("delete", NEXT)]
    assert late.status.failures is not None
    assert late.status.failures.reason == "CudaGraphEnabled"
    assert states.condition(late.status, "Stalled") == ("True", "CudaGraphEnabled")


def test_a_stopped_successor_is_looked_at_when_it_is_late_and_not_before() -> None:
    planned = plan(stopped_for_good())

    assert planned.actions == ()
    assert planned.look_again == timedelta(hours=2) - (stopped_for_good().now - world.NOW)


def test_what_stopped_a_successor_is_still_said_when_the_one_that_served_is_lost() -> None:
    planned = plan(moves.gone(stopped_for_good(), "leader-uid"))

    assert planned.status.incarnation is not None
    assert planned.status.incarnation.id == moves.NEXT
    assert planned.status.failures is not None
    assert planned.status.failures.reason == "CudaGraphEnabled"


def test_the_loss_of_the_one_that_served_does_not_shorten_the_wait_of_its_successor() -> None:
    spec = world.spec(replicas=1, engine={"image": "lmsysorg/sglang:v0.5.20"})
    begun = moves.told(states.wanting(spec, states.serving(8, 4, 6)))
    ended = Exit(code=1, message="out of memory", finished_at=world.NOW)
    crashed = replace(world.running(restarts=2), running=False, ready=False, exit=ended)
    successor = moves.next_leader(spec, ready=False, containers=(crashed,))
    failed = moves.gone(moves.told(moves.beside(begun, successor)), successor.uid)

    planned = plan(moves.gone(failed, "leader-uid"))

    assert planned.status.failures == failed.group.status.failures
    assert planned.status.incarnation is not None
    assert planned.status.incarnation.template_hash == template_hash(spec)
