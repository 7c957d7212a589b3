"""The main job: a group comes up and grows while it serves."""

import json
from pathlib import Path

import pytest
from tests.cluster.groups import LiveGroup, Namespace

pytestmark = pytest.mark.cluster
EXAMPLE = Path(__file__).parents[2] / "deploy" / "examples" / "deepseek-v2-lite.yaml"


def test_the_example_grows_from_four_to_six_to_eight_and_serves(namespace: Namespace) -> None:
    namespace.kubectl("apply", "-f", str(EXAMPLE))
    (found,) = namespace.items("eepg")
    group = LiveGroup(namespace=namespace, name=found["metadata"]["name"])

    group.await_size(8, within=90)

    pods = group.pods()
    ranks = [
        (
            pod["metadata"]["labels"]["elasticep.dev/role"],
            pod["metadata"]["labels"].get("elasticep.dev/rank-offset"),
        )
        for pod in pods
    ]
    assert ranks == [("leader", None), ("joiner", "4"), ("joiner", "6")]
    assert all(pod["spec"]["nodeName"].startswith("gpu-node-") for pod in pods)
    assert group.accepted_requests() == {"6": 1, "8": 1}
    assert len(group.complete()["choices"]) == 1
    reasons = [event["reason"] for event in namespace.items("events.events.k8s.io")]
    assert reasons.count("ScaleUpCompleted") == 2
    assert "Ready" in reasons


def test_the_scale_subresource_grows_a_group_and_counts_its_pods(namespace: Namespace) -> None:
    group = namespace.create_group(replicas=1)
    group.await_size(4)

    group.scale(2)
    group.await_size(6)

    path = f"/apis/elasticep.dev/v1alpha1/namespaces/{namespace.name}/elasticepgroups/lite/scale"
    scale = json.loads(namespace.kubectl("get", "--raw", path))
    selected = namespace.kubectl("get", "pods", "-l", scale["status"]["selector"], "-o", "name")
    assert scale["status"]["replicas"] == 2
    assert len(selected.split()) == 2


def test_more_ranks_than_reserved_are_refused_with_what_to_write_instead(
    namespace: Namespace,
) -> None:
    group = namespace.create_group(replicas=1)

    words = namespace.refused("scale", f"eepg/{group.name}", "--replicas=4")

    assert "maxEPSize" in words
    assert "10" in words
    assert group.read()["spec"]["replicas"] == 1


def test_an_idle_leader_without_any_traffic_completes_its_scale_up(namespace: Namespace) -> None:
    group = namespace.create_group(replicas=1)
    group.await_size(4)

    group.scale(3)

    group.await_size(8)
