"""What is done next while a group grows, from hand-made states of the world."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.plan import world

from elasticep.api.models import FailureStatus, GroupStatus, OperationStatus
from elasticep.plan.actions import CreatePod, DeletePod, RequestScale, SendTraffic
from elasticep.plan.decision import Plan
from elasticep.plan.planner import plan
from elasticep.world.engine import CompletionFailed, CompletionSucceeded
from elasticep.world.snapshot import Snapshot


def serving(effective: int = 4, *joiners: int, **changes: object) -> Snapshot:
    """A leader that serves, with joiners at these offsets."""
    pods = (world.leader(), *(world.joiner(offset) for offset in joiners))
    base = world.snapshot(pods=pods, engine=world.engine(effective))
    return replace(world.surrounded(base), **changes)


def operation(from_: int = 4, to: int = 6, phase: str = "Recorded") -> OperationStatus:
    return OperationStatus(
        from_=from_,
        to=to,
        phase=phase,
        started_at=world.NOW,
        deadline=world.NOW + timedelta(minutes=31),
    )


def during(operation: OperationStatus, state: Snapshot) -> Snapshot:
    """The same world with an operation on record."""
    status = GroupStatus(operation=operation)
    return replace(state, group=replace(state.group, status=status))


def condition(planned: Plan, kind: str) -> tuple[str, str]:
    found = next(c for c in planned.status.conditions if c.type == kind)
    return found.status.value, found.reason


def test_a_new_group_gets_key_service_policy_and_leader_and_the_incarnation_on_record() -> None:
    planned = plan(world.snapshot())

    kinds = [type(action).__name__ for action in planned.actions]
    assert kinds == ["CreateAdminKey", "ApplyObject", "ApplyObject", "CreatePod"]
    assert planned.status.incarnation is not None
    assert planned.status.incarnation.id == world.INCARNATION
    assert planned.status.incarnation.leader_uid is None
    assert condition(planned, "Ready") == ("False", "LeaderStarting")
    assert condition(planned, "Reconciling") == ("True", "LeaderStarting")


def test_the_leader_is_launched_at_its_own_address_with_its_own_ranks() -> None:
    created = [a for a in plan(world.snapshot()).actions if isinstance(a, CreatePod)]

    container = created[0].manifest["spec"]["containers"][0]
    assert "$(POD_IP):20000" in " ".join(container["args"])
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "4"
    assert created[0].manifest["metadata"]["ownerReferences"][0]["uid"] == world.UID


def test_an_answering_leader_gets_traffic_and_the_first_joiner_is_made() -> None:
    silent = serving(pods=(world.leader(serving=False),))

    planned = plan(silent)

    traffic, created = planned.actions
    assert isinstance(traffic, SendTraffic)
    assert isinstance(created, CreatePod)
    arguments = created.manifest["spec"]["containers"][0]["args"]
    assert arguments[arguments.index("--elastic-ep-join-rank-offset") + 1] == "4"
    assert arguments[arguments.index("--dist-init-addr") + 1] == "10.0.0.1:20000"
    assert condition(planned, "Available") == ("True", "Serving")


def test_the_engine_is_asked_once_the_joiner_runs_and_the_operation_is_on_record() -> None:
    planned = plan(serving(4, 4))

    assert planned.actions == (
        RequestScale(target=6, leader_uid="leader-uid", why=planned.actions[0].why),
    )
    assert planned.status.operation is not None
    assert (planned.status.operation.from_, planned.status.operation.to) == (4, 6)
    assert planned.status.ep_size.pending == 6


def test_a_joiner_that_is_not_running_is_waited_for_without_asking_the_engine() -> None:
    pending = world.joiner(4, containers=(), node="", unschedulable="0/3 nodes are available")

    planned = plan(serving(pods=(world.leader(), pending)))

    assert planned.actions == ()
    assert planned.status.operation is None
    assert condition(planned, "ScaleLimited") == ("True", "Unschedulable")
    assert condition(planned, "Available") == ("True", "Serving")


def test_an_operation_on_record_that_the_engine_has_not_heard_of_is_asked_for() -> None:
    """The operator died between writing the record and sending the request."""
    planned = plan(during(operation(), serving(4, 4)))

    assert [type(a) for a in planned.actions] == [RequestScale]


def test_nothing_is_asked_while_the_engine_does_not_answer() -> None:
    planned = plan(during(operation(), serving(4, 4, engine=world.LOADING)))

    assert planned.actions == ()
    assert planned.status.operation == operation()
    assert planned.status.ep_size.effective is None


@pytest.mark.parametrize(
    "phase", ["waiting_for_cohort", "joining", "syncing_new_world", "a_phase_nobody_knows"]
)
def test_a_pending_operation_is_followed_and_never_asked_for_again(phase: str) -> None:
    busy = world.engine(4, pending=6, phase=phase)

    planned = plan(during(operation(), serving(4, 4, engine=busy)))

    assert planned.actions == ()
    assert planned.status.operation is not None
    assert planned.status.operation.phase == phase
    assert condition(planned, "ScalingUp")[0] == "True"


def test_the_new_size_counts_only_after_a_completion_and_the_next_joiner_follows() -> None:
    grown = during(operation(phase="waiting_for_cohort"), serving(6, 4))

    unproven = plan(replace(grown, completion=CompletionFailed(message="500")))
    proven = plan(replace(grown, completion=CompletionSucceeded()))

    assert unproven.actions == ()
    assert unproven.status.operation is not None
    assert proven.status.operation is None
    created = proven.actions[0]
    assert isinstance(created, CreatePod)
    assert created.manifest["metadata"]["labels"]["elasticep.dev/rank-offset"] == "6"


def test_a_failed_operation_leaves_the_group_serving_and_waits_before_the_next_joiner() -> None:
    failed = world.engine(4, phase="failed", last_error="Timed out waiting for ranks to join")

    planned = plan(during(operation(phase="waiting_for_cohort"), serving(4, 4, engine=failed)))

    assert [type(a) for a in planned.actions] == [DeletePod]
    assert planned.status.operation is None
    assert planned.status.failures is not None
    assert planned.status.failures.reason == "JoinTimedOut"
    assert planned.status.failures.next_retry_at == world.NOW + timedelta(seconds=10)
    assert condition(planned, "Available") == ("True", "Serving")
    assert condition(planned, "ScaleLimited") == ("True", "JoinTimedOut")


def test_the_wanted_size_is_ready_and_nothing_is_left_to_do() -> None:
    planned = plan(serving(8, 4, 6))

    assert planned.actions == ()
    assert planned.look_again is None
    assert condition(planned, "Ready") == ("True", "AllRanksServing")
    assert condition(planned, "Reconciling")[0] == "False"
    assert [j.state.value for j in planned.status.joiners] == ["Joined", "Joined"]


def test_a_change_of_mind_before_the_request_only_deletes_the_joiner() -> None:
    wanted = world.spec(replicas=1)
    leader_only = serving(4, 4)
    undecided = replace(leader_only, group=replace(leader_only.group, spec=wanted))

    planned = plan(undecided)

    assert [a.name for a in planned.actions if isinstance(a, DeletePod)] == [world.joiner(4).name]


def test_a_change_of_mind_after_the_request_waits_for_its_end() -> None:
    busy = during(
        operation(phase="waiting_for_cohort"),
        serving(4, 4, engine=world.engine(4, pending=6, phase="waiting_for_cohort")),
    )

    planned = plan(replace(busy, group=replace(busy.group, spec=world.spec(replicas=1))))

    assert planned.actions == ()


def test_an_operation_that_somebody_else_began_is_followed() -> None:
    busy = world.engine(4, pending=6, phase="waiting_for_cohort")

    planned = plan(serving(4, 4, engine=busy))

    assert planned.actions == ()
    assert planned.status.operation is not None
    assert planned.status.operation.to == 6


def test_a_joiner_that_goes_away_during_the_operation_is_made_again() -> None:
    busy = world.engine(4, pending=6, phase="waiting_for_cohort")

    planned = plan(during(operation(phase="waiting_for_cohort"), serving(4, engine=busy)))

    assert [type(a) for a in planned.actions] == [CreatePod]


def test_joiners_of_an_earlier_life_of_the_leader_go() -> None:
    reborn = world.leader(containers=(world.running(container_id="containerd://two"),))

    planned = plan(serving(pods=(reborn, world.joiner(4), world.joiner(6))))

    assert [a.name for a in planned.actions if isinstance(a, DeletePod)] == [
        world.joiner(4).name,
        world.joiner(6).name,
    ]


def test_a_joined_rank_that_is_gone_restarts_the_group_under_a_new_incarnation() -> None:
    planned = plan(serving(8, 6))

    deleted = [a.name for a in planned.actions if isinstance(a, DeletePod)]
    assert deleted == [world.leader().name, world.joiner(6).name]
    assert planned.status.incarnation is not None
    assert planned.status.incarnation.serial == 2
    assert planned.status.failures is not None
    assert planned.status.failures.reason == "RankLost"


def test_a_paused_group_is_reported_and_left_alone() -> None:
    state = serving(4, 4)

    planned = plan(replace(state, group=replace(state.group, spec=world.spec(paused=True))))

    assert planned.actions == ()
    assert planned.status.operation is None
    assert condition(planned, "Ready") == ("False", "Paused")


def test_a_status_reads_back_as_it_was_written_whatever_is_known() -> None:
    """Otherwise every look would find a difference and write."""
    for state in (serving(8, 4, 6), serving(6, 4, engine=world.LOADING), world.snapshot()):
        status = plan(state).status
        written = status.model_dump(mode="json", by_alias=True, exclude_none=True)
        assert GroupStatus.model_validate(written) == status


def test_a_joiner_that_would_fail_again_is_not_made_while_the_engine_waits_for_it() -> None:
    lasting = FailureStatus(
        reason="RankArithmetic",
        last_failure_at=world.NOW,
        template_hash=world.leader().template_hash,
    )
    busy = world.engine(4, pending=6, phase="waiting_for_cohort")
    state = serving(4, engine=busy)
    status = GroupStatus(operation=operation(phase="waiting_for_cohort"), failures=lasting)

    planned = plan(replace(state, group=replace(state.group, status=status)))

    assert planned.actions == ()
    assert planned.status.operation is not None
    assert condition(planned, "ScaleLimited") == ("True", "RankArithmetic")
    assert condition(planned, "Stalled") == ("True", "RankArithmetic")
    assert condition(planned, "Available")[0] == "True"


def test_a_paused_group_that_has_lost_a_rank_is_not_ready() -> None:
    settled = serving(8, 4, 6)
    lost = replace(settled, pods=settled.pods[:-1])

    planned = plan(replace(lost, group=replace(lost.group, spec=world.spec(paused=True))))

    assert planned.actions == ()
    assert condition(planned, "Ready") == ("False", "Paused")
    assert condition(planned, "Stalled")[0] == "False"
