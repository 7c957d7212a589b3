"""What a crash is, what its cause is called, and when it is tried again."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.plan import world

from elasticep.api.models import FailureStatus, GroupStatus, IncarnationStatus
from elasticep.api.reasons import Blocked
from elasticep.plan.actions import CreatePod, DeletePod
from elasticep.plan.back_off import delay
from elasticep.plan.crash_loop import diagnose, root_cause
from elasticep.plan.planner import plan
from elasticep.world.pods import Container, Exit, Pod
from elasticep.world.snapshot import Refusal, Snapshot

GRAPHS = "AssertionError: Elastic EP scale-up requires decode CUDA graphs to be disabled"


def exited(message: str = "", *, code: int = 1, reason: str = "Error", seconds: int = 5) -> Exit:
    return Exit(
        code=code,
        reason=reason,
        message=message,
        started_at=world.NOW - timedelta(seconds=seconds),
        finished_at=world.NOW,
    )


def crashing(ended: Exit, *, restarts: int = 2, init: bool = False) -> Container:
    return Container(
        name="fetch" if init else "engine",
        init=init,
        restarts=restarts,
        waiting_reason="CrashLoopBackOff",
        last_exit=ended,
    )


def leader(container: Container) -> Pod:
    return world.leader(serial=2, ready=False, serving=False, containers=(container,))


@pytest.mark.parametrize(
    ("ended", "reason", "lasting"),
    [
        (exited(GRAPHS), "CudaGraphEnabled", True),
        (exited("torch.OutOfMemoryError: CUDA out of memory."), "GpuOutOfMemory", False),
        (exited(code=137, reason="OOMKilled"), "OOMKilled", False),
        (exited(code=143), "ContainerKilled", False),
        (exited("Segmentation fault", code=139), "EngineCrashed", False),
        (exited(GRAPHS, code=0, reason="Completed"), "CudaGraphEnabled", True),
    ],
)
def test_the_cause_of_a_crash_has_a_name(ended: Exit, reason: str, lasting: bool) -> None:
    crash = diagnose(leader(crashing(ended)))

    assert crash is not None
    assert (crash.reason, crash.lasting) == (reason, lasting)
    assert crash.exit_code == ended.code


def test_a_cause_that_no_retry_can_help_is_named_at_the_first_exit() -> None:
    assert diagnose(leader(crashing(exited(GRAPHS), restarts=0))) is not None


def test_a_first_exit_for_another_cause_is_left_to_the_kubelet() -> None:
    assert diagnose(leader(crashing(exited("Segmentation fault"), restarts=0))) is None


def test_a_container_that_is_ready_now_has_left_its_past_behind() -> None:
    healed = replace(world.running(restarts=7), last_exit=exited(code=137, reason="OOMKilled"))

    assert diagnose(world.leader(containers=(healed,))) is None


def test_a_restart_after_a_long_life_is_no_loop() -> None:
    weeks = exited("Segmentation fault", seconds=14 * 24 * 3600)

    assert diagnose(leader(crashing(weeks, restarts=9))) is None


def test_an_init_container_that_keeps_exiting_is_a_crash_and_one_that_is_done_is_not() -> None:
    failing = leader(crashing(exited("no such model"), init=True))
    done = Container(name="fetch", init=True, exit=exited(code=0, reason="Completed"))

    assert diagnose(failing) is not None
    assert diagnose(leader(done)) is None


def test_the_earliest_crash_is_the_cause_of_the_others() -> None:
    late = crashing(replace(exited("Cannot resolve host"), finished_at=world.NOW))
    early = crashing(
        replace(exited("CUDA out of memory"), finished_at=world.NOW - timedelta(seconds=9))
    )

    crash = root_cause([world.joiner(4, ready=False, containers=(late,)), leader(early)])

    assert crash is not None
    assert crash.reason == "GpuOutOfMemory"


def test_evidence_is_short_and_keeps_no_secret() -> None:
    words = "x" * 5000 + "\nadmin_api_key='hunter2' token=abc\nCUDA out of memory"

    crash = diagnose(leader(crashing(exited(words))))

    assert crash is not None
    assert len(crash.excerpt) <= 2048
    assert "hunter2" not in crash.excerpt
    assert "abc" not in crash.excerpt
    assert crash.excerpt.endswith("CUDA out of memory")


def failing(count: int, *, ago: timedelta, **changes: object) -> GroupStatus:
    """A status in which the leader has failed so often, and last so long ago."""
    when = world.NOW - ago
    failure = FailureStatus(
        reason="EngineCrashed",
        count=count,
        message="it crashed",
        last_failure_at=when,
        template_hash=world.leader().template_hash,
        next_retry_at=when + delay(world.spec(), count),
    )
    return GroupStatus(
        failures=failure.model_copy(update=changes),
        incarnation=IncarnationStatus(
            id="next", serial=2, template_hash=world.leader().template_hash
        ),
    )


def nothing_left(status: GroupStatus, **group_changes: object) -> Snapshot:
    group = replace(world.group(status=status), **group_changes)
    return world.surrounded(world.snapshot(group=group))


def test_a_crash_loop_is_on_record_with_its_evidence_before_the_pods_go() -> None:
    state = world.surrounded(world.snapshot(pods=(leader(crashing(exited(GRAPHS))),)))

    planned = plan(state)

    assert [type(a) for a in planned.actions] == [DeletePod]
    failure = planned.status.failures
    assert failure is not None
    assert (failure.reason, failure.count, failure.last_exit_code) == ("CudaGraphEnabled", 1, 1)
    assert failure.advice
    assert GRAPHS in failure.excerpt
    assert failure.next_retry_at is None
    assert planned.look_again is None


def test_nothing_is_made_before_the_back_off_is_over_and_then_a_leader_is() -> None:
    early = plan(nothing_left(failing(2, ago=timedelta(seconds=19))))
    due = plan(nothing_left(failing(2, ago=timedelta(seconds=20))))

    assert early.actions == ()
    assert early.look_again == timedelta(seconds=1)
    assert [type(a) for a in due.actions] == [CreatePod]


@pytest.mark.parametrize(
    ("count", "seconds"), [(1, 10), (2, 20), (3, 40), (6, 320), (7, 600), (50, 600)]
)
def test_the_back_off_doubles_from_ten_seconds_to_ten_minutes(count: int, seconds: int) -> None:
    assert delay(world.spec(), count) == timedelta(seconds=seconds)


def test_a_spent_budget_stops_the_group_until_somebody_resumes_it() -> None:
    crashed = leader(crashing(exited("Segmentation fault")))
    status = failing(world.spec().recovery.max_restarts, ago=timedelta(minutes=4))
    spent = plan(
        world.surrounded(world.snapshot(group=world.group(status=status), pods=(crashed,)))
    )

    assert spent.status.failures is not None
    assert spent.status.failures.next_retry_at is None
    assert "resume" in spent.status.failures.advice

    still = plan(nothing_left(spent.status))
    resumed = plan(nothing_left(spent.status, resume="2026-01-01"))

    assert still.actions == ()
    assert [c.reason for c in still.status.conditions if c.type == "Stalled"] == ["EngineCrashed"]
    assert [type(a) for a in resumed.actions] == [CreatePod]


def test_a_changed_template_lifts_a_lasting_failure() -> None:
    stopped = failing(1, ago=timedelta(hours=1), next_retry_at=None)
    mended = world.spec(engine={"image": "lmsysorg/sglang:v0.5.20"})

    assert plan(nothing_left(stopped)).actions == ()
    assert [type(a) for a in plan(nothing_left(stopped, spec=mended)).actions] == [CreatePod]


def test_a_failure_after_a_quiet_time_is_the_first_of_a_new_row() -> None:
    crashed = leader(crashing(exited("Segmentation fault")))
    status = failing(4, ago=timedelta(hours=2))

    planned = plan(
        world.surrounded(world.snapshot(group=world.group(status=status), pods=(crashed,)))
    )

    assert planned.status.failures is not None
    assert planned.status.failures.count == 1


def refused_by_quota(status: GroupStatus) -> GroupStatus:
    words = "exceeded quota: gpus, requested: requests.nvidia.com/gpu=4"
    refusal = Refusal(subject="Pod p", reason=Blocked.QUOTA_EXCEEDED, message=words)
    return plan(replace(nothing_left(status), refusals=(refusal,))).status


def test_a_spent_quota_is_waited_out_and_spends_no_budget() -> None:
    status = failing(50, ago=timedelta(minutes=10), reason="QuotaExceeded")

    refused = refused_by_quota(status)

    assert refused.failures is not None
    assert refused.failures.count == 51
    assert refused.failures.next_retry_at == world.NOW + timedelta(minutes=10)


def test_a_crash_after_a_long_wait_for_quota_is_the_first_of_its_row() -> None:
    status = failing(50, ago=timedelta(minutes=10), reason="QuotaExceeded")
    crashed = leader(crashing(exited("Segmentation fault")))

    planned = plan(
        world.surrounded(world.snapshot(group=world.group(status=status), pods=(crashed,)))
    )

    assert planned.status.failures is not None
    assert planned.status.failures.count == 1
    assert planned.status.failures.next_retry_at is not None
