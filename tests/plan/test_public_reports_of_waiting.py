"""What other operators took for a crash, or did not tell at all: pods that wait.

Each docstring names the reports.
"""

import pytest
from tests.plan import states, world
from tests.plan.failures import starting, waiting, young

from elasticep.plan.planner import plan


@pytest.mark.parametrize(
    "reason",
    [
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
        "ErrImageNeverPull",
        "CreateContainerConfigError",
        "CreateContainerError",
        "RunContainerError",
    ],
)
def test_a_container_that_cannot_start_is_named_and_is_no_crash(reason: str) -> None:
    """krane#54, pai#3572, kubernetes#66828, #96186, kuberay#4272, lws#1056."""
    stuck = young(waiting(reason, "in the kubelet's words"), node="node-a")
    first = plan(starting(stuck))
    planned = plan(states.later(starting(stuck), first, minutes=30))

    assert states.condition(planned.status, "Ready") == ("False", reason)
    assert states.condition(planned.status, "ScaleLimited") == ("True", reason)
    assert planned.actions == ()
    assert planned.status.failures is None


def test_what_a_pending_pod_waits_for_has_a_word_of_its_own() -> None:
    """lws#1056, cluster-readiness-engine#310, kueue#15277."""
    pending = {
        "PodPending": young(node=""),
        "Unschedulable": young(node="", unschedulable="0/3 nodes are available"),
        "SchedulingGated": young(node="", gated=True),
        "ContainersStarting": young(waiting("ContainerCreating"), node="node-a"),
        "ImagePullBackOff": young(waiting("ImagePullBackOff"), node="node-a"),
    }

    told = {states.condition(plan(starting(p)).status, "Ready")[1] for p in pending.values()}

    assert told == set(pending)


def test_a_gated_joiner_is_waited_for_and_leaves_the_group_serving() -> None:
    """kueue PR#14138, #15277, #9482, lws#167: gated for half an hour is no crash."""
    gated = world.joiner(4, node="", ready=False, gated=True, containers=(), phase="Pending")
    state = states.serving(pods=(world.leader(), gated))

    planned = plan(states.later(state, plan(state), minutes=30))

    assert states.condition(planned.status, "Ready") == ("False", "SchedulingGated")
    assert states.condition(planned.status, "Available") == ("True", "Serving")
    assert planned.actions == ()
    assert planned.status.failures is None


def test_a_leader_that_has_served_and_fell_silent_is_not_said_to_load() -> None:
    """kuberay#4078, kubeflow/trainer PR#959, lws#508: Running is shown though nothing runs."""
    silent = world.leader(ready=False)
    again = world.leader(ready=False, containers=(world.running(restarts=1),))

    lost = plan(states.serving(pods=(silent,), engine=world.LOADING)).status
    loading = plan(states.serving(pods=(again,), engine=world.LOADING)).status

    assert states.condition(lost, "Available") == ("False", "LeaderNotAnswering")
    assert any("on node-a has served" in condition.message for condition in lost.conditions)
    assert states.condition(loading, "Available") == ("False", "LeaderLoading")
