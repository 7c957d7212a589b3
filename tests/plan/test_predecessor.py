"""What becomes of the incarnation that serves while its successor is made."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from tests.plan import moves, states, world

from elasticep.api.models import JoinerState, JoinerStatus
from elasticep.plan.planner import plan
from elasticep.world.pods import Exit, Pod
from elasticep.world.snapshot import Snapshot

NEW_IMAGE = world.spec(engine={"image": "lmsysorg/sglang:v0.5.20"})
OLD, NEXT = world.leader().name, f"lite-leader-{moves.NEXT}"
SURGE = {"strategy": "Surge"}
UNPLACED: dict[str, Any] = {
    "phase": "Pending",
    "node": "",
    "ip": "",
    "ready": False,
    "containers": (),
}


def surging(*pods: Pod, effective: int = 6, **changes: Any) -> Snapshot:
    """A roll-out whose successor finds no node, beside a leader that serves with its joiners."""
    begun = moves.told(states.wanting(NEW_IMAGE, states.serving(effective, 4)))
    pending = moves.next_leader(NEW_IMAGE, unschedulable="0/3 nodes are available", **UNPLACED)
    return replace(moves.beside(begun, pending, *pods), **changes)


def test_a_joiner_that_has_not_joined_gives_its_gpus_to_the_successor() -> None:
    planned = plan(surging(world.joiner(6)))

    assert moves.done(planned) == [("delete", world.joiner(6).name)]


def test_a_joiner_that_the_engine_waits_for_stays() -> None:
    waiting = world.engine(6, pending=8, phase="waiting_for_cohort")

    planned = plan(surging(world.joiner(6), engine=waiting))

    assert planned.actions == ()


def test_a_joiner_whose_ranks_are_lost_gives_its_gpus_to_the_successor() -> None:
    again = replace(world.running(restarts=1), container_id="containerd://again")
    spec = NEW_IMAGE.model_copy(update={"recovery": world.spec(recovery=SURGE).recovery})
    state = moves.changed(surging(), "joiner-4-uid", containers=(again,))

    planned = plan(states.wanting(spec, state))

    assert moves.done(planned) == [("delete", world.joiner(4).name)]
    assert states.condition(planned.status, "Available")[0] == "True"


def test_one_that_lost_ranks_and_is_not_ready_makes_room_whatever_the_strategy() -> None:
    spec = NEW_IMAGE.model_copy(update={"recovery": world.spec(recovery=SURGE).recovery})
    state = moves.changed(moves.gone(surging(), "joiner-4-uid"), "leader-uid", ready=False)

    planned = plan(states.wanting(spec, state))

    assert moves.done(planned) == [("delete", OLD)]
    assert planned.status.incarnation is not None
    assert planned.status.incarnation.id == moves.NEXT
    assert planned.status.failures is not None
    assert planned.status.failures.reason == "RankLost"


def test_one_that_is_silent_for_too_long_makes_room() -> None:
    silent = moves.changed(surging(engine=world.LOADING), "leader-uid", ready=False)
    seen = moves.told(silent)

    planned = plan(replace(seen, now=seen.now + timedelta(hours=2)))

    assert ("delete", OLD) in moves.done(planned)
    assert planned.status.failures is not None
    assert planned.status.failures.reason == "LeaderSilent"


def test_the_record_of_who_had_joined_is_kept_meanwhile() -> None:
    known = surging().group.status.joiners

    assert known == (
        JoinerStatus(
            pod=world.joiner(4).name,
            uid="joiner-4-uid",
            offset=4,
            ranks=2,
            state=JoinerState.JOINED,
        ),
    )


def test_a_joiner_that_has_failed_goes_though_the_engine_cannot_be_asked() -> None:
    ended = Exit(code=1, message="wait timeout", finished_at=world.NOW)
    crashed = replace(world.running(restarts=2), running=False, ready=False, exit=ended)
    failed = world.joiner(6, containers=(crashed,), ready=False)

    planned = plan(surging(failed, engine=world.LOADING))

    assert moves.done(planned) == [("delete", failed.name)]
