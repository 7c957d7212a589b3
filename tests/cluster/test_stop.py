"""Replicas 0 ends a group without losing what it has accepted, and is no dead end."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml
from tests.cluster.groups import LiveGroup, Namespace, eventually
from tests.cluster.moves import all_pods, await_settled, create_small_group

pytestmark = pytest.mark.cluster

AUTOSCALER = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: lite}
spec:
  scaleTargetRef: {apiVersion: elasticep.dev/v1alpha1, kind: ElasticEPGroup, name: lite}
  minReplicas: 1
  maxReplicas: 3
  metrics:
    - type: Resource
      resource: {name: cpu, target: {type: AverageValue, averageValue: "1"}}
"""


def test_a_stop_finishes_long_requests_and_the_group_starts_again(namespace: Namespace) -> None:
    """Requests on the leader's ranks and on the joiner's, of 6 s each, are in flight."""
    group = create_small_group(namespace, replicas=2)
    group.await_size(3)
    with ThreadPoolExecutor(3) as clients:
        answers = [clients.submit(group.complete, tokens=300) for _ in range(3)]
        eventually(lambda: group.engine_state()["running"] == 3, within=10)
        group.scale(0)
        made = [answer.result()["usage"]["completion_tokens"] for answer in answers]
    assert made == [300] * 3

    eventually(lambda: not all_pods(group), within=60, explain=group.describe)
    eventually(lambda: is_stopped(group), within=15, explain=group.describe)
    assert_an_autoscaler_understands(namespace)

    group.scale(2)
    await_settled(group, ranks=3, pods=2)
    assert group.complete()["choices"]


def is_stopped(group: LiveGroup) -> bool:
    """Whether it says that it is stopped, and that this is what was wanted."""
    status = group.status()
    return (
        group.condition("Ready") == ("True", "Stopped")
        and group.condition("Available")[0] == "False"
        and group.condition("Stalled")[0] == "False"
        and (status["replicas"], status["readyReplicas"]) == (0, 0)
        and status["epSize"]["desired"] == 0
        and bool(status["selector"])
    )


def assert_an_autoscaler_understands(namespace: Namespace) -> None:
    """The scale subresource at 0, and a real autoscaler that reads it."""
    path = f"/apis/elasticep.dev/v1alpha1/namespaces/{namespace.name}/elasticepgroups/lite/scale"
    scale = json.loads(namespace.kubectl("get", "--raw", path))
    assert scale["spec"].get("replicas", 0) == 0
    assert scale["status"]["replicas"] == 0
    assert scale["status"]["selector"]
    namespace.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(yaml.safe_load(AUTOSCALER)))

    def reason() -> str:
        (found,) = namespace.items("hpa")
        conditions = found.get("status", {}).get("conditions", [])
        return next((str(c["reason"]) for c in conditions if c["type"] == "ScalingActive"), "")

    assert eventually(reason, within=30) == "ScalingDisabled"
    namespace.kubectl("delete", "hpa", "lite")


def test_a_group_that_is_made_with_no_replicas_is_stopped_and_starts(namespace: Namespace) -> None:
    group = create_small_group(namespace, replicas=0)
    eventually(lambda: is_stopped(group), within=15, explain=group.describe)
    assert not all_pods(group)

    group.scale(1)

    await_settled(group, ranks=2, pods=1)
