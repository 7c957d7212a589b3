"""Pods as the API server gives them, read into what the planner understands."""

from elasticep.observe.pods import controller_uid, read_pod

BARE = {"metadata": {"name": "lite-leader-bcdfgh", "uid": "u"}}


def test_a_pod_without_any_status_is_pending_and_known_by_name() -> None:
    pod = read_pod(BARE)

    assert (pod.name, pod.phase, pod.ready, pod.terminating, pod.ip) == (
        "lite-leader-bcdfgh",
        "Pending",
        False,
        False,
        "",
    )


def test_the_schedulers_words_are_kept_only_while_it_finds_no_node() -> None:
    def with_condition(**condition: str) -> object:
        conditions = [{"type": "PodScheduled", **condition}]
        return read_pod({**BARE, "status": {"conditions": conditions}}).unschedulable

    words = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."
    assert with_condition(status="False", reason="Unschedulable", message=words) == words
    assert with_condition(status="True") == ""
    assert with_condition(status="False", reason="SchedulingGated", message="gated") == ""


def test_an_out_of_memory_kill_that_shows_only_in_the_last_state_is_read() -> None:
    killed = {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-01-01T12:00:00Z"}
    status = {
        "containerStatuses": [
            {
                "name": "engine",
                "state": {"running": {"startedAt": "2026-01-01T12:00:05Z"}},
                "lastState": {"terminated": killed},
                "restartCount": 1,
                "ready": True,
                "containerID": "containerd://abc",
            }
        ]
    }

    container = read_pod({**BARE, "status": status}).container("engine")

    assert container is not None
    assert container.running
    assert container.restarts == 1
    assert container.last_exit is not None
    assert (container.last_exit.code, container.last_exit.reason) == (137, "OOMKilled")


def test_an_init_container_that_exits_is_seen() -> None:
    status = {
        "initContainerStatuses": [
            {
                "name": "fetch",
                "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}},
                "lastState": {"terminated": {"exitCode": 1, "message": "no such model"}},
            }
        ]
    }

    (container,) = read_pod({**BARE, "status": status}).containers

    assert container.init
    assert container.waiting_reason == "CrashLoopBackOff"
    assert container.last_exit is not None
    assert container.last_exit.message == "no such model"


def test_only_the_controller_counts_as_owner() -> None:
    owners = [{"uid": "someone"}, {"uid": "the-group", "controller": True}]

    assert controller_uid({"metadata": {"ownerReferences": owners}}) == "the-group"
    assert controller_uid(BARE) == ""
