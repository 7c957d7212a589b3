"""The operator as the cluster runs it: stopped, started, killed, and what it has written."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from tests.cluster.groups import Namespace, eventually

from testbed.cluster import Cluster

OPERATOR_NAMESPACE = "elasticep-system"
OPERATOR_USER = f"system:serviceaccount:{OPERATOR_NAMESPACE}:elasticep-operator"


@dataclass(frozen=True, kw_only=True)
class OperatorPod:
    """The operator's Deployment."""

    cluster: Cluster

    def stop(self) -> None:
        """No operator runs."""
        self._kubectl("scale", "deployment/elasticep-operator", "--replicas=0")
        eventually(lambda: not self._pods(), within=60)

    def start(self) -> None:
        """One operator runs."""
        self._kubectl("scale", "deployment/elasticep-operator", "--replicas=1")
        self._await()

    def release(self, image: str) -> None:
        """The operator of this image has taken over."""
        self._kubectl("set", "image", "deployment/elasticep-operator", f"*={image}")
        self._await()

    def kill(self) -> None:
        """SIGKILL, without a word; the kubelet starts its container again."""
        for pod in self._pods():
            kill_container(self.cluster, OPERATOR_NAMESPACE, pod)

    def node(self) -> str:
        """The node that it runs on."""
        jsonpath = "jsonpath={.spec.nodeName}"
        return self._kubectl("get", "pod", self._pods()[0], "-o", jsonpath)

    def _await(self) -> None:
        self._kubectl("rollout", "status", "deployment/elasticep-operator", "--timeout=90s")

    def _pods(self) -> list[str]:
        selector = "app.kubernetes.io/component=operator"
        return (
            self._kubectl("get", "pods", "-l", selector, "-o", "name").replace("pod/", "").split()
        )

    def _kubectl(self, *words: str) -> str:
        return self.cluster.kubectl("-n", OPERATOR_NAMESPACE, *words)


def operator_writes(namespace: Namespace, *, since: int) -> list[str]:
    """What the operator has written in a namespace since an offset of the audit log."""
    with namespace.cluster.audit_log.open("rb") as log:
        log.seek(since)
        return list(_writes((line for line in log if line.endswith(b"\n")), namespace.name))


def _writes(lines: Iterable[bytes], namespace: str) -> Iterable[str]:
    for line in lines:
        event = json.loads(line)
        verb, target = event["verb"], event.get("objectRef", {})
        if event["user"].get("username") != OPERATOR_USER or event["stage"] != "ResponseComplete":
            continue
        if verb in {"get", "list", "watch"} or target.get("namespace") != namespace:
            continue
        what = "/".join(target.get(part, "") for part in ("resource", "name", "subresource"))
        yield f"{verb} {what}"


def kill_container(cluster: Cluster, namespace: str, pod: str) -> None:
    """SIGKILL for the first process of the pod's first container, sent from its node."""
    found = json.loads(cluster.kubectl("-n", namespace, "get", "pod", pod, "-o", "json"))
    container = found["status"]["containerStatuses"][0]["containerID"].removeprefix("containerd://")
    node = cluster.node(found["spec"]["nodeName"])
    node.run(["ctr", "--namespace", "k8s.io", "tasks", "kill", "--signal", "SIGKILL", container])
