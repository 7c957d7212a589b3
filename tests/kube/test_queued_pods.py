"""A queueing controller holds pods back and lets them go; the operator does not interfere."""

import json

from tests.kube.api_server import kubectl
from tests.kube.sample_objects import group

from elasticep.api import names
from elasticep.api.models import GroupSpec
from elasticep.apply.executor import Executor
from elasticep.kube.port import GROUPS, PODS, Kube
from elasticep.observe.pods import read_pod
from elasticep.plan.actions import CreatePod, SendTraffic
from elasticep.plan.pods import Blueprint, leader_pod
from elasticep.world.key import Key
from testbed.controlplane import ControlPlane

QUEUE = "kueue.x-k8s.io/queue-name"
TEMPLATE = {
    "metadata": {
        "labels": {QUEUE: "gpus"},
        "annotations": {"scheduling.k8s.io/group-name": "lite"},
    },
    "spec": {"schedulingGates": [{"name": "example.com/quota"}]},
}


async def test_what_a_queue_does_to_a_pod_outlives_what_the_operator_does(
    plane: ControlPlane, real: Kube, namespace: str
) -> None:
    """Server-side apply speaks of the one label that is the operator's, and of no other field."""
    owner = await real.create(GROUPS, group(namespace, template=TEMPLATE))
    blueprint = Blueprint(
        group="lite",
        namespace=namespace,
        group_uid=owner["metadata"]["uid"],
        spec=GroupSpec.model_validate(owner["spec"]),
    )
    manifest = leader_pod(blueprint, incarnation="bcdfgh", serial=1)
    name = manifest["metadata"]["name"]
    executor = Executor(kube=real, count_pod=lambda _role: None)
    key = Key(namespace=namespace, name="lite")
    made = CreatePod(manifest=manifest, why="there is none")
    assert await executor.carry_out([made], key=key, engines={}) == ()
    held = await real.get(PODS, namespace, name)
    assert held["metadata"]["labels"][QUEUE] == "gpus"
    assert held["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == "lite"
    assert held["spec"]["schedulingGates"] == TEMPLATE["spec"]["schedulingGates"]

    admitted = {
        "metadata": {
            "labels": {QUEUE: "more-gpus", "kueue.x-k8s.io/managed": "true"},
            "annotations": {"scheduling.k8s.io/group-name": "podgroup-1"},
        },
        "spec": {"schedulingGates": None},
    }
    words = ["pod", name, f"--namespace={namespace}", "--type=merge"]
    kubectl(plane, "patch", *words, f"--patch={json.dumps(admitted)}")
    traffic = SendTraffic(pod=name, uid=held["metadata"]["uid"], why="its engine answers")
    assert await executor.carry_out([traffic], key=key, engines={}) == ()

    pod = await real.get(PODS, namespace, name)
    assert read_pod(pod).serving
    assert admitted["metadata"]["labels"].items() <= pod["metadata"]["labels"].items()
    assert pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == "podgroup-1"
    assert "schedulingGates" not in pod["spec"]


async def test_a_pod_on_its_nodes_network_is_taken_with_its_ports_as_the_nodes(
    real: Kube, namespace: str
) -> None:
    """The API server makes host ports of the declared ones; the scheduler keeps those apart."""
    owner = await real.create(GROUPS, group(namespace))
    spec = {**owner["spec"], "template": {"spec": {"hostNetwork": True}}}
    blueprint = Blueprint(
        group="lite",
        namespace=namespace,
        group_uid=owner["metadata"]["uid"],
        spec=GroupSpec.model_validate({**spec, "placement": {"within": "example.com/rail"}}),
    )
    pod = await real.create(PODS, leader_pod(blueprint, incarnation="bcdfgh", serial=1))
    (engine,) = pod["spec"]["containers"]
    taken = [port["hostPort"] for port in engine["ports"]]
    assert taken == [30000, 30233, *range(20000, 20007), 20013]
    assert pod["metadata"]["labels"][names.LABEL_HOST_NETWORK] == "true"
