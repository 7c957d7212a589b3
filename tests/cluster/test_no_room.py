"""A move that finds no room waits for it; the old incarnation serves meanwhile."""

import json
from collections.abc import Iterator

import pytest
from tests.cluster.groups import LiveGroup, Namespace, eventually
from tests.cluster.moves import (
    NEXT_IMAGE,
    await_settled,
    create_small_group,
    images,
    pod_uids,
    traffic_to,
)

pytestmark = pytest.mark.cluster

DEVICE = "rdma/scarce"


@pytest.fixture
def full_house(namespace: Namespace) -> Iterator[LiveGroup]:
    """A group of 3 ranks in two pods on a node with four devices, of which others have two.

    The device is the test's own, the node's GPUs are everybody's.
    """
    device, node = f"{DEVICE}-{namespace.name}", emptiest_node(namespace)
    offer(namespace, node, device, "4")
    namespace.kubectl("apply", "-f", "-", stdin=json.dumps(occupant(device)))
    namespace.kubectl("wait", "pod/occupant", "--for=condition=PodScheduled")
    group = create_small_group(
        namespace, replicas=2, rdma={"resource": device, "devices": ["mlx5_0"]}
    )
    group.await_size(3, within=120)
    yield group
    offer(namespace, node, device, None)


def emptiest_node(namespace: Namespace) -> str:
    """The node on which the fewest GPUs are taken."""
    taken = dict.fromkeys((node.name for node in namespace.cluster.nodes), 0)
    everything = namespace.cluster.kubectl("get", "pods", "--all-namespaces", "-o", "json")
    for pod in json.loads(everything)["items"]:
        for container in pod["spec"]["containers"]:
            limits = container.get("resources", {}).get("limits", {})
            node = pod["spec"].get("nodeName")
            if node is not None:
                taken[node] += int(limits.get("nvidia.com/gpu", 0))
    return min(taken, key=lambda node: taken[node])


def offer(namespace: Namespace, node: str, device: str, count: str | None) -> None:
    """The node has so many of a device; the kubelet keeps what is said here."""
    patch = json.dumps({"status": {"capacity": {device: count}}})
    words = ("--subresource=status", "--type=merge", "-p", patch)
    namespace.cluster.kubectl("patch", "node", node, *words)


def occupant(device: str) -> dict[str, object]:
    """A pod that takes two devices and does nothing."""
    container = {
        "name": "pause",
        "image": "localhost/elasticep/pause:1",
        "imagePullPolicy": "Never",
        "resources": {"limits": {device: "2"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "occupant"},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0},
    }


@pytest.mark.parametrize("move", ["a shrink", "a roll-out"])
def test_there_is_no_room_for_the_successor_of(
    move: str, full_house: LiveGroup, namespace: Namespace
) -> None:
    group = full_house
    before = pod_uids(group)
    with traffic_to(group) as traffic:
        if move == "a shrink":
            group.scale(1)
        else:
            group.change(engine={"image": NEXT_IMAGE})

        group.await_condition("ScaleLimited", "True", "InsufficientCapacity", within=30)
        assert f"Insufficient {DEVICE}" in group.message("ScaleLimited")
        assert "Restart" in group.message("ScaleLimited")
        assert group.condition("Available")[0] == "True"
        assert set(before) < set(pod_uids(group))
        assert counted_by_an_autoscaler(namespace) == (2, 2)

        namespace.kubectl("delete", "pod", "occupant", "--wait=false")
        if move == "a shrink":
            await_settled(group, ranks=2, pods=1)
        else:
            eventually(lambda: images(group) == {NEXT_IMAGE}, within=90, explain=group.describe)
            await_settled(group, ranks=3, pods=2)
    assert not traffic.report().failed, str(traffic.report())


def test_a_spec_that_goes_back_gives_up_the_successor_that_found_no_room(
    full_house: LiveGroup,
) -> None:
    group = full_house
    before = pod_uids(group)

    group.scale(1)
    group.await_condition("ScaleLimited", "True", "InsufficientCapacity", within=30)
    group.scale(2)

    await_settled(group, ranks=3, pods=2, within=30)
    assert pod_uids(group) == before


def counted_by_an_autoscaler(namespace: Namespace) -> tuple[int, int]:
    """The pods that the scale subresource counts, and those that its selector matches."""
    path = f"/apis/elasticep.dev/v1alpha1/namespaces/{namespace.name}/elasticepgroups/lite/scale"
    scale = json.loads(namespace.kubectl("get", "--raw", path))["status"]
    selected = namespace.kubectl("get", "pods", "-l", scale["selector"], "-o", "name").split()
    return scale["replicas"], len(selected)
