"""Leader and joiners are lost in every way that a cluster knows; the group is whole again."""

import json
import time

import pytest
from tests.cluster.groups import Namespace, eventually, with_faults
from tests.cluster.operator_pod import OperatorPod, kill_container

from testbed.cluster import Cluster

pytestmark = pytest.mark.cluster


def test_a_leader_killed_during_a_growth_comes_back_and_grows_again(
    cluster: Cluster, namespace: Namespace
) -> None:
    group = namespace.create_group()
    eventually(lambda: group.status().get("operation"), within=60, explain=group.describe)
    leader = group.leader()["metadata"]

    kill_container(cluster, namespace.name, leader["name"])

    eventually(lambda: group.effective() != 8, within=30)
    group.await_size(8, within=120)
    assert len(group.pods()) == 3
    assert group.accepted_requests() == {"6": 1, "8": 1}


@pytest.mark.parametrize(
    ("phase", "stage"), [("it loads", "load"), ("it waits to be admitted", "register")]
)
def test_a_joiner_killed_while(
    phase: str, stage: str, cluster: Cluster, namespace: Namespace
) -> None:
    """Held at one stage by a fault that strikes only its first container, then killed there."""
    when = {"role": "joiner", "firstStarts": 1}
    hang = {"do": "hang", "stage": stage, "when": when}
    group = namespace.create_group(replicas=2, template=with_faults(hang))
    eventually(lambda: group.status().get("operation"), within=60, explain=group.describe)
    time.sleep(5)

    kill_container(cluster, namespace.name, group.pods("joiner")[0]["metadata"]["name"])

    group.await_size(6, within=150)
    assert len(group.pods()) == 2, phase
    assert group.complete()["choices"]


def test_a_leader_pod_deleted_by_hand_is_followed_by_a_new_incarnation(
    namespace: Namespace,
) -> None:
    group = namespace.create_group(replicas=2)
    group.await_size(6)
    before = group.status()["incarnation"]

    namespace.kubectl("delete", "pod", group.leader()["metadata"]["name"], "--wait=false")

    eventually(
        lambda: (
            group.status()["incarnation"]["serial"] > before["serial"]
            and group.effective() == 6
            and group.condition("Ready")[0] == "True"
        ),
        within=150,
        explain=group.describe,
    )
    owners = {p["metadata"]["labels"]["elasticep.dev/incarnation"] for p in group.pods()}
    assert owners == {group.status()["incarnation"]["id"]}


def test_a_joined_joiner_that_is_deleted_restarts_the_group(namespace: Namespace) -> None:
    group = namespace.create_group(replicas=2)
    group.await_size(6)
    before = group.status()["incarnation"]["serial"]

    namespace.kubectl("delete", "pod", group.pods("joiner")[0]["metadata"]["name"], "--wait=false")

    eventually(
        lambda: (
            group.status()["incarnation"]["serial"] == before + 1
            and group.effective() == 6
            and group.condition("Ready")[0] == "True"
        ),
        within=150,
        explain=group.describe,
    )
    assert group.complete()["choices"]


def test_a_joined_joiner_whose_engine_is_killed_restarts_the_group(
    cluster: Cluster, namespace: Namespace
) -> None:
    group = namespace.create_group(replicas=2)
    group.await_size(6)
    before = group.status()["incarnation"]["serial"]

    kill_container(cluster, namespace.name, group.pods("joiner")[0]["metadata"]["name"])

    eventually(
        lambda: (
            group.status()["incarnation"]["serial"] > before
            and group.effective() == 6
            and group.condition("Ready")[0] == "True"
        ),
        within=150,
        explain=group.describe,
    )


def test_an_evicted_leader_is_followed_by_a_new_one(namespace: Namespace) -> None:
    group = namespace.create_group(replicas=1)
    group.await_size(4)
    leader = group.leader()["metadata"]
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": leader["name"], "namespace": namespace.name},
    }
    path = f"/api/v1/namespaces/{namespace.name}/pods/{leader['name']}/eviction"

    namespace.kubectl("create", "--raw", path, "-f", "-", stdin=json.dumps(eviction))

    eventually(
        lambda: [p for p in group.pods() if p["metadata"]["uid"] != leader["uid"]], within=120
    )
    group.await_size(4, within=120)


@pytest.mark.disturbs
def test_the_node_of_the_leader_goes_and_the_group_moves_to_another(
    cluster: Cluster, namespace: Namespace, operator: OperatorPod
) -> None:
    where = operator.node()
    # A pod of a lost node is given up some time after its grace period.
    pinned = {"spec": {"affinity": _away_from(where), "terminationGracePeriodSeconds": 5}}
    group = namespace.create_group(replicas=1, template=pinned)
    group.await_size(4)
    lost = group.leader()["spec"]["nodeName"]
    assert lost != where
    cluster.stop_node(lost)
    try:
        eventually(
            lambda: [
                p for p in group.pods("leader") if p["spec"].get("nodeName") not in {None, lost}
            ],
            within=180,
            explain=group.describe,
        )
        group.await_size(4, within=120)
    finally:
        cluster.start_node(lost)


def _away_from(node: str) -> dict[str, object]:
    expression = {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": [node]}
    term = {"matchExpressions": [expression]}
    required = {"nodeSelectorTerms": [term]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
