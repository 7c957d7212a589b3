"""Where pods go: what the user's template says, and what the operator adds to it."""

from typing import Any

import pytest
from tests.plan.world import INCARNATION, LIFE, UID, spec

from elasticep.api import names
from elasticep.plan.pods import Blueprint, joiner_pod, leader_pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
RAIL = "example.com/rail"
HOST_NETWORK = {"spec": {"hostNetwork": True}}
NODES = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": []}]}}}
CACHE = {"labelSelector": {"matchLabels": {"app": "model-cache"}}, "topologyKey": RAIL}


def blueprint(**wanted: Any) -> Blueprint:
    return Blueprint(group="lite", namespace="default", group_uid=UID, spec=spec(**wanted))


def leader(**wanted: Any) -> dict[str, Any]:
    return leader_pod(blueprint(**wanted), incarnation=INCARNATION, serial=1)


def joiner(incarnation: str = INCARNATION, **wanted: Any) -> dict[str, Any]:
    return joiner_pod(
        blueprint(**wanted),
        incarnation=incarnation,
        serial=1,
        leader_life=LIFE,
        leader_address="10.0.0.1",
        offset=4,
    )


def test_pods_go_anywhere_by_default() -> None:
    assert "affinity" not in leader()["spec"]
    assert "affinity" not in joiner()["spec"]


def test_what_the_template_says_of_nodes_reaches_every_pod() -> None:
    spread = [
        {
            "maxSkew": 1,
            "topologyKey": RAIL,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": names.pod_labels("lite")},
        }
    ]
    said = {"affinity": NODES, "topologySpreadConstraints": spread, "schedulerName": "volcano"}
    for pod in (leader(template={"spec": said}), joiner(template={"spec": said})):
        assert {field: pod["spec"][field] for field in said} == said


@pytest.mark.parametrize("required", [True, False])
def test_joiners_are_drawn_to_their_own_leader(required: bool) -> None:
    placement = {"within": RAIL, "required": required}
    assert "affinity" not in leader(placement=placement)["spec"]

    drawn = joiner(placement=placement)["spec"]["affinity"]["podAffinity"]
    if required:
        (term,) = drawn.pop(REQUIRED)
    else:
        (preferred,) = drawn.pop(PREFERRED)
        term = preferred["podAffinityTerm"]
    assert drawn == {}, "what is required is not preferred too"
    assert term["topologyKey"] == RAIL
    wanted = term["labelSelector"]["matchLabels"]
    assert wanted.items() <= leader(placement=placement)["metadata"]["labels"].items()
    assert wanted[names.LABEL_INCARNATION] == INCARNATION


def test_joiners_of_a_successor_are_not_drawn_to_the_leader_before() -> None:
    drawn = joiner(incarnation="zzzzzz", placement={"within": RAIL, "required": True})
    (term,) = drawn["spec"]["affinity"]["podAffinity"][REQUIRED]
    selected = term["labelSelector"]["matchLabels"].items()
    assert not selected <= leader()["metadata"]["labels"].items()


@pytest.mark.parametrize("required", [True, False])
def test_a_users_own_affinity_holds_beside_the_placement(required: bool) -> None:
    own = {**NODES, "podAffinity": {REQUIRED: [CACHE], PREFERRED: []}}
    pod = joiner(
        placement={"within": RAIL, "required": required}, template={"spec": {"affinity": own}}
    )
    affinity = pod["spec"]["affinity"]
    assert affinity["nodeAffinity"] == NODES["nodeAffinity"]
    assert affinity["podAffinity"][REQUIRED][0] == CACHE
    assert len(affinity["podAffinity"][REQUIRED]) == 1 + required
    assert len(affinity["podAffinity"][PREFERRED]) == 1 - required


def test_pods_on_their_nodes_network_keep_off_each_other_and_off_nobody_else() -> None:
    on_host = [leader(template=HOST_NETWORK), joiner(template=HOST_NETWORK)]
    for pod in on_host:
        (term,) = pod["spec"]["affinity"]["podAntiAffinity"][REQUIRED]
        assert (term["topologyKey"], term["namespaceSelector"]) == ("kubernetes.io/hostname", {})
        avoided = term["labelSelector"]["matchLabels"].items()
        assert all(avoided <= other["metadata"]["labels"].items() for other in on_host)
        assert not avoided <= leader()["metadata"]["labels"].items()
        assert pod["spec"]["dnsPolicy"] == "ClusterFirstWithHostNet"


def test_a_users_own_anti_affinity_holds_beside_that_of_the_host_network() -> None:
    own = {"podAntiAffinity": {REQUIRED: [CACHE]}, **NODES}
    pod = leader(template={"spec": {"hostNetwork": True, "affinity": own}})
    assert pod["spec"]["affinity"]["podAntiAffinity"][REQUIRED][0] == CACHE
    assert len(pod["spec"]["affinity"]["podAntiAffinity"][REQUIRED]) == 2
    assert pod["spec"]["affinity"]["nodeAffinity"] == NODES["nodeAffinity"]


def test_placement_and_host_network_hold_together() -> None:
    pod = joiner(placement={"within": RAIL}, template=HOST_NETWORK)
    assert pod["spec"]["affinity"].keys() == {"podAffinity", "podAntiAffinity"}


def ports(pod: dict[str, Any]) -> list[int]:
    return [port["containerPort"] for port in pod["spec"]["containers"][0]["ports"]]


def test_every_port_that_can_be_known_is_declared_where_it_is_the_nodes() -> None:
    rendezvous = [*range(20000, 20007), 20013]
    assert ports(leader(template=HOST_NETWORK)) == [30000, 30233, *rendezvous]
    assert ports(joiner(template=HOST_NETWORK)) == [30000, 30233]
    assert ports(leader()) == ports(joiner()) == [30000]


QUEUED = {
    "labels": {
        "kueue.x-k8s.io/queue-name": "gpus",
        "kueue.x-k8s.io/priority-class": "serving",
        "scheduling.x-k8s.io/pod-group": "lite",
    },
    "annotations": {
        "scheduling.k8s.io/group-name": "lite",
        "scheduling.volcano.sh/queue-name": "gpus",
    },
}


def test_what_queues_and_gang_schedulers_look_for_reaches_every_pod() -> None:
    for pod in (leader(template={"metadata": QUEUED}), joiner(template={"metadata": QUEUED})):
        assert QUEUED["labels"].items() <= pod["metadata"]["labels"].items()
        assert QUEUED["annotations"].items() <= pod["metadata"]["annotations"].items()


def test_scheduling_gates_reach_every_pod() -> None:
    gates = [{"name": "example.com/quota"}]
    for pod in (
        leader(template={"spec": {"schedulingGates": gates}}),
        joiner(template={"spec": {"schedulingGates": gates}}),
    ):
        assert pod["spec"]["schedulingGates"] == gates
