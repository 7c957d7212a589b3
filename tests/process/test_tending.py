"""What the process does about groups, and what it leaves alone."""

import json
from typing import Any

import pytest
from tests.kube.api_server import kubectl
from tests.kube.sample_objects import group
from tests.process.operator_process import USER, OperatorProcess, Start, eventually

from testbed.controlplane import ControlPlane

WRITES = {"create", "update", "patch", "delete", "deletecollection"}


def apply(plane: ControlPlane, manifest: dict[str, Any]) -> None:
    kubectl(plane, "apply", "--filename=-", stdin=json.dumps(manifest))


def read(plane: ControlPlane, namespace: str, what: str) -> dict[str, Any]:
    words = ("get", what, f"--namespace={namespace}", "--output=json", "--show-managed-fields")
    found: dict[str, Any] = json.loads(kubectl(plane, *words))
    return found


def series(namespace: str, metric: str) -> str:
    return f'{metric}{{name="lite",namespace="{namespace}"}}'


def writes(plane: ControlPlane) -> list[tuple[str, str]]:
    """Every write of the operator, but for its Lease."""
    events = [json.loads(line) for line in plane.audit_log.read_text("utf-8").splitlines()]
    return [
        (event["verb"], event["requestURI"])
        for event in events
        if event["user"].get("username") == USER  # a request without a name has none
        and event["verb"] in WRITES
        and event["objectRef"]["resource"] != "leases"
    ]


def leader_uids(plane: ControlPlane, namespace: str) -> set[str]:
    pods = read(plane, namespace, "pods")["items"]
    return {pod["metadata"]["uid"] for pod in pods}


def reconciles(operator: OperatorProcess) -> float:
    results = ("success", "requeue_after", "error")
    counts = [operator.metric(f'elasticep_reconcile_total{{result="{r}"}}') for r in results]
    return sum(filter(None, counts))


@pytest.fixture
def operator(start: Start) -> OperatorProcess:
    """A leader that comes round to every group each second."""
    operator: OperatorProcess = start("--resync-seconds=1")
    eventually(operator.leads)
    return operator


@pytest.fixture
def lite(plane: ControlPlane, namespace: str, operator: OperatorProcess) -> str:
    """The namespace of a group that waits for a node for its leader, of which there is none."""
    apply(plane, group(namespace))
    eventually(lambda: leader_uids(plane, namespace))
    return namespace


def test_a_new_group_gets_a_status_and_a_leader(plane: ControlPlane, lite: str) -> None:
    eventually(lambda: read(plane, lite, "eepg/lite").get("status"))
    status = read(plane, lite, "eepg/lite")["status"]
    assert status["observedGeneration"] == 1
    assert {c["status"] for c in status["conditions"] if c["type"] == "Ready"} == {"False"}


def test_an_idle_group_is_left_alone(
    plane: ControlPlane, lite: str, operator: OperatorProcess
) -> None:
    settled = reconciles(operator) + 5
    eventually(lambda: reconciles(operator) >= settled)
    before, written = read(plane, lite, "eepg/lite"), writes(plane)
    looked_at_often = reconciles(operator) + 8
    eventually(lambda: reconciles(operator) >= looked_at_often)
    assert writes(plane) == written
    assert read(plane, lite, "eepg/lite") == before


def test_nothing_of_the_framework_is_on_a_group(plane: ControlPlane, lite: str) -> None:
    metadata = read(plane, lite, "eepg/lite")["metadata"]
    assert "finalizers" not in metadata
    assert set(metadata["annotations"]) == {"kubectl.kubernetes.io/last-applied-configuration"}
    managers = {each["manager"] for each in metadata["managedFields"]}
    assert managers == {"kubectl-client-side-apply", "elasticep-status"}


@pytest.fixture
def watched(plane: ControlPlane, namespace: str, start: Start) -> str:
    """The namespace of a group of which only the watches tell; the resync comes too seldom."""
    eventually(start("--resync-seconds=3600").leads)
    apply(plane, group(namespace))
    eventually(lambda: leader_uids(plane, namespace))
    return namespace


def test_a_change_of_a_group_is_seen(plane: ControlPlane, watched: str) -> None:
    apply(plane, group(watched, replicas=2))

    def seen() -> bool:
        status: dict[str, Any] = read(plane, watched, "eepg/lite")["status"]
        return bool(status["observedGeneration"] == 2)

    eventually(seen)


def test_the_end_of_a_pod_is_seen(plane: ControlPlane, watched: str) -> None:
    gone = leader_uids(plane, watched)
    kubectl(plane, "delete", "pods", "--all", f"--namespace={watched}")
    eventually(lambda: leader_uids(plane, watched) - gone)


def test_a_group_that_is_deleted_takes_its_series_along(
    plane: ControlPlane, lite: str, operator: OperatorProcess
) -> None:
    ready = series(lite, "elasticep_ready")
    eventually(lambda: operator.metric(ready) is not None)
    kubectl(plane, "delete", "eepg/lite", f"--namespace={lite}", "--timeout=30s")
    eventually(lambda: operator.metric(ready) is None)


def test_a_group_outside_of_its_namespaces_is_left_alone(
    plane: ControlPlane, namespace: str, start: Start
) -> None:
    operator = start(f"--namespace={namespace}", "--resync-seconds=1")
    eventually(operator.leads)
    apply(plane, group("default"))
    apply(plane, group(namespace))
    eventually(lambda: operator.metric(series(namespace, "elasticep_ready")) is not None)
    assert "status" not in read(plane, "default", "eepg/lite")
    assert operator.metric(series("default", "elasticep_ready")) is None
    kubectl(plane, "delete", "eepg/lite", "--namespace=default")
