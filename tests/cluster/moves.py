"""Words for moves between incarnations: small groups that come up quickly, traffic, what stays."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from demo.watch import Change, watch
from tests.cluster.groups import LiveGroup, Namespace, eventually

from testbed.api import Api
from testbed.traffic import Flow, Traffic, steady_traffic

IMAGE, NEXT_IMAGE = "lmsysorg/sglang:v0.5.19", "lmsysorg/sglang:v0.5.23"
KINDS = (
    "pods",
    "services",
    "secrets",
    "endpointslices",
    "networkpolicies",
    "poddisruptionbudgets",
)

SMALL: dict[str, Any] = {"leader": {"ranks": 2}, "joiner": {"ranks": 1}, "maxEPSize": 4}
"""Sizes 2, 3 and 4; two incarnations take 8 GPUs at most, so that tests can run side by side."""

AT_ONCE = {"stabilizationSeconds": 0}
"""For `scaleDown`: a smaller size is acted on as soon as it is asked for."""


def quick(*faults: dict[str, Any], **settings: str) -> dict[str, Any]:
    """A pod template of engines that load quickly.

    Joiners leave at SIGTERM at once, where real ones live out their grace period: one that is
    ended while it still has requests loses them before everybody's eyes.
    """
    values = {"LOAD_SECONDS": "0.5", "CONNECT_SECONDS": "0.2", "JOIN_SECONDS": "0.2"}
    values |= {"SIGTERM": "prompt"} | settings
    if faults:
        values["FAULTS"] = json.dumps(faults)
    env = [{"name": f"ELASTICEP_SIM_{name}", "value": value} for name, value in values.items()]
    engine = {"name": "engine", "env": env}
    # A process that is told to end before it can hear it lives out its grace period.
    return {"spec": {"containers": [engine], "terminationGracePeriodSeconds": 15}}


def create_small_group(namespace: Namespace, name: str = "lite", **changes: Any) -> LiveGroup:
    """A group of leader 2, joiners 1, at most 4, of quick engines; it shrinks when it is asked."""
    spec = {**SMALL, "template": quick(), "scaleDown": AT_ONCE, **changes}
    return namespace.create_group(name, **spec)


@contextmanager
def traffic_to(group: LiveGroup, **how: Any) -> Iterator[Traffic]:
    """Completions through the Service's ClusterIP, 20 a second, while the block runs."""
    with steady_traffic(Flow(url=group.url(), **how)) as traffic:
        yield traffic


def all_pods(group: LiveGroup) -> list[dict[str, Any]]:
    """Its pods, those that are being deleted too."""
    return [
        pod
        for pod in group.namespace.pods()
        if pod["metadata"].get("labels", {}).get("elasticep.dev/group-name") == group.name
    ]


def incarnations(group: LiveGroup) -> set[str]:
    """The incarnations that have pods."""
    return {pod["metadata"]["labels"]["elasticep.dev/incarnation"] for pod in all_pods(group)}


def successor(group: LiveGroup) -> str:
    """The incarnation that is to take over, once it has a pod; else nothing."""
    found = str(group.status().get("move", {}).get("successor", {}).get("id", ""))
    return found if found in incarnations(group) else ""


def serving_leaders(group: LiveGroup) -> list[str]:
    """The pods that the Service sends requests to."""
    pods = all_pods(group)
    label = "elasticep.dev/serving"
    return [p["metadata"]["name"] for p in pods if p["metadata"]["labels"].get(label) == "true"]


def pod_uids(group: LiveGroup) -> list[str]:
    """The pods' identities, with the number of times their containers were started again."""
    return sorted(f"{pod['metadata']['uid']}/{_restarts(pod)}" for pod in all_pods(group))


def _restarts(pod: dict[str, Any]) -> int:
    return sum(each["restartCount"] for each in pod["status"].get("containerStatuses", []))


def images(group: LiveGroup) -> set[str]:
    """The engine images of its pods."""
    return {pod["spec"]["containers"][0]["image"] for pod in all_pods(group)}


def is_settled(group: LiveGroup, *, ranks: int, pods: int) -> bool:
    """Whether it serves with that size and those pods alone, and has nothing under way."""
    status = group.status()
    return (
        group.condition("Ready")[0] == "True"
        and status["epSize"].get("effective") == ranks
        and not any(status.get(field) for field in ("move", "operation", "retiring", "scaleDown"))
        and len(all_pods(group)) == pods
        and incarnations(group) == {status["incarnation"]["id"]}
        and len(serving_leaders(group)) == 1
    )


def await_settled(group: LiveGroup, *, ranks: int, pods: int, within: float = 90) -> None:
    """Wait until nothing is under way any more."""
    eventually(
        lambda: is_settled(group, ranks=ranks, pods=pods), within=within, explain=group.describe
    )


def leftovers(namespace: Namespace) -> list[str]:
    """Every object of a group that is still there."""
    return [
        f"{kind}/{item['metadata']['name']}" for kind in KINDS for item in namespace.items(kind)
    ]


class History:
    """What has become of a namespace's pods and groups, from when this was made."""

    def __init__(self, namespace: Namespace) -> None:
        core = f"/api/v1/namespaces/{namespace.name}/pods"
        ours = f"/apis/elasticep.dev/v1alpha1/namespaces/{namespace.name}/elasticepgroups"
        self._changes = watch(Api.from_kubeconfig(namespace.cluster.kubeconfig), (core, ours))
        self._seen: list[Change] = []

    def changes(self, *, kind: str) -> list[Change]:
        """Every change of the objects below a list path that ends so."""
        while not self._changes.empty():
            self._seen.append(self._changes.get())
        return [change for change in self._seen if change.path.endswith(kind)]

    def deletions(self) -> list[str]:
        """The pods that somebody has begun to delete, in that order."""
        found: list[str] = []
        for change in self.changes(kind="pods"):
            metadata = change.object["metadata"]
            if "deletionTimestamp" in metadata and metadata["name"] not in found:
                found.append(metadata["name"])
        return found

    def spans(self, kind: str, status: str) -> list[tuple[float, float]]:
        """When the only group has had a condition in this status: from when, until when."""
        found: list[tuple[float, float]] = []
        began: float | None = None
        for change in self.changes(kind="elasticepgroups"):
            conditions = change.object.get("status", {}).get("conditions", [])
            now = any(each["type"] == kind and each["status"] == status for each in conditions)
            if now and began is None:
                began = change.at
            elif not now and began is not None:
                found.append((began, change.at))
                began = None
        return [*found, (began, time.time())] if began is not None else found
