"""Which incarnation counts, when it ends, and what the next one may be called."""

from dataclasses import replace
from datetime import timedelta

from tests.plan import states, world

from elasticep.api import names
from elasticep.api.models import IncarnationStatus
from elasticep.plan.actions import CreatePod, DeletePod
from elasticep.plan.planner import plan
from elasticep.plan.template_hash import template_hash


def incarnation(serial: int, *, leader_uid: str | None = None) -> IncarnationStatus:
    return IncarnationStatus(
        id=names.incarnation_id(world.UID, serial),
        serial=serial,
        leader_uid=leader_uid,
        template_hash=template_hash(world.spec()),
    )


def test_an_incarnation_that_was_given_up_is_not_taken_back_by_the_next_operator() -> None:
    """The operator died after the loss was on record and before it deleted a pod."""
    lost = plan(states.serving(8, 6))

    again = plan(states.later(states.serving(8, 6), lost, seconds=1))

    assert {a.name for a in again.actions if isinstance(a, DeletePod)} == {
        world.leader().name,
        world.joiner(6).name,
    }
    assert again.status.incarnation == lost.status.incarnation
    assert again.status.failures == lost.status.failures


def test_a_group_that_was_stopped_starts_again_without_a_failure() -> None:
    adopted = incarnation(1, leader_uid="leader-uid")
    running = states.recorded(states.serving(4), incarnation=adopted)
    stopped = plan(states.wanting(world.spec(replicas=0), running))

    started = plan(states.later(world.surrounded(world.snapshot()), stopped, minutes=5))

    assert [type(action) for action in started.actions] == [CreatePod]
    assert started.status.failures is None
    assert started.status.incarnation is not None
    assert started.status.incarnation.serial == 2


def test_a_leader_that_stays_terminating_does_not_keep_its_name_from_the_next_one() -> None:
    """It was deleted by hand before anybody had seen it alive, then its node was lost."""
    gone_by = world.NOW - timedelta(minutes=5)
    leaving = world.leader(gone_by=gone_by, containers=(), ready=False)
    state = world.surrounded(world.snapshot(pods=(leaving,)))

    planned = plan(states.recorded(state, incarnation=incarnation(1)))

    (made,) = planned.actions
    assert isinstance(made, CreatePod)
    assert made.manifest["metadata"]["name"] != leaving.name
    assert planned.status.incarnation is not None
    assert planned.status.incarnation.serial == 2


def test_the_next_leader_waits_for_the_old_pods_within_their_grace_period() -> None:
    leaving = replace(world.leader(), gone_by=world.NOW + timedelta(seconds=30))

    planned = plan(world.surrounded(world.snapshot(pods=(leaving,))))

    assert planned.actions == ()
    assert states.condition(planned.status, "Ready") == ("False", "WaitingForOldPods")


def test_with_nothing_on_record_the_leader_that_has_the_traffic_counts() -> None:
    """A backup that was restored has no status; a successor may have been on its way."""
    later = replace(
        world.leader(serving=False),
        name="next",
        uid="next-uid",
        incarnation=names.incarnation_id(world.UID, 2),
        serial=2,
    )
    state = world.snapshot(pods=(world.leader(), later), engine=world.engine(4))

    planned = plan(world.surrounded(state))

    deleted = [action.name for action in planned.actions if isinstance(action, DeletePod)]
    assert deleted == ["next"]
    assert planned.status.incarnation is not None
    assert planned.status.incarnation.serial == 1
