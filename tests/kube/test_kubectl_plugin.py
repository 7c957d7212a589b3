"""``kubectl elasticep`` as kubectl runs it, against a real API server."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.kube.api_server import kubectl, make_namespace
from tests.kube.sample_objects import group

from elasticep.api import names
from testbed.controlplane import ControlPlane

GRAPHS = "AssertionError: Elastic EP scale-up requires decode CUDA graphs to be disabled"


class Person:
    """Somebody with kubectl, the plugin and a kubeconfig."""

    def __init__(self, plane: ControlPlane, kubeconfig: Path) -> None:
        self.plane = plane
        self.kubeconfig = kubeconfig

    def types(self, *words: str) -> subprocess.CompletedProcess[str]:
        """What ``kubectl elasticep`` answers."""
        plugins = str(Path(sys.executable).parent)
        return subprocess.run(
            [self.plane.kube, "kubectl", "elasticep", *words],
            capture_output=True,
            text=True,
            check=False,
            env={
                **os.environ,
                "KUBECONFIG": str(self.kubeconfig),
                "PATH": os.pathsep.join([plugins, os.environ["PATH"]]),
            },
        )


@pytest.fixture
def place(plane: ControlPlane, namespace: str) -> str:
    """A namespace that exists."""
    make_namespace(plane, namespace)
    return namespace


@pytest.fixture
def kubeconfig(plane: ControlPlane, place: str, tmp_path: Path) -> Path:
    """The administrator's, with the test's namespace in the current context."""
    return write_kubeconfig(plane, tmp_path / "kubeconfig", namespace=place)


@pytest.fixture
def person(plane: ControlPlane, kubeconfig: Path) -> Person:
    return Person(plane, kubeconfig)


def write_kubeconfig(
    plane: ControlPlane,
    path: Path,
    *,
    namespace: str,
    token: str | None = None,
    server: str | None = None,
) -> Path:
    """The administrator's kubeconfig, or another user's or server's, with two contexts."""
    config = yaml.safe_load(plane.kubeconfig.read_text("utf-8"))
    context = config["contexts"][0]
    here = {**context["context"], "namespace": namespace}
    elsewhere = {**context["context"], "namespace": "default"}
    config["contexts"] = [
        {"name": "here", "context": here},
        {"name": "elsewhere", "context": elsewhere},
    ]
    config["current-context"] = "here"
    if token is not None:
        config["users"][0]["user"] = {"token": token}
    if server is not None:
        config["clusters"][0]["cluster"]["server"] = server
    path.write_text(yaml.safe_dump(config), "utf-8")
    return path


def condition(kind: str, value: str, reason: str, message: str = "") -> dict[str, Any]:
    return {
        "type": kind,
        "status": value,
        "reason": reason,
        "message": message,
        "lastTransitionTime": "2026-01-01T12:00:00Z",
    }


def stopped() -> dict[str, Any]:
    """A group that has failed for good, five minutes ago."""
    return {
        "observedGeneration": 1,
        "conditions": [
            condition("Ready", "False", "CudaGraphEnabled", f"the engine exited: {GRAPHS}."),
            condition("Available", "False", "CudaGraphEnabled", f"the engine exited: {GRAPHS}."),
            condition("Reconciling", "False", "NothingToDo", "no change is in progress"),
            condition("Stalled", "True", "CudaGraphEnabled", f"the engine exited: {GRAPHS}."),
            condition("ScalingUp", "False", "NotScalingUp", "no ranks are being added"),
        ],
        "epSize": {"desired": 4, "effective": 0},
        "failures": {
            "reason": "CudaGraphEnabled",
            "count": 2,
            "lastExitCode": 1,
            "message": f"the engine exited: {GRAPHS}",
            "advice": "Remove every CUDA graph flag.",
            "excerpt": f"loading weights\n{GRAPHS}",
            "lastFailureAt": (datetime.now(UTC) - timedelta(minutes=5)).isoformat(),
        },
    }


def applied(plane: ControlPlane, namespace: str, *, status: dict[str, Any] | None = None) -> None:
    """The group ``lite`` exists, with a status if one is given."""
    kubectl(plane, "create", "-f", "-", stdin=json.dumps(group(namespace)))
    if status is not None:
        words = ["--subresource=status", "--type=merge", f"--namespace={namespace}"]
        patch = json.dumps({"status": status})
        kubectl(plane, "patch", "eepg", "lite", *words, "--patch", patch)


def stored(plane: ControlPlane, namespace: str) -> dict[str, Any]:
    told = kubectl(plane, "get", "eepg", "lite", f"--namespace={namespace}", "--output=json")
    found: dict[str, Any] = json.loads(told)
    return found


def resume_value(plane: ControlPlane, namespace: str) -> str | None:
    annotations: dict[str, str] = stored(plane, namespace)["metadata"].get("annotations", {})
    return annotations.get(names.ANNOTATION_RESUME)


def test_resume_gives_the_annotation_a_value_that_it_never_had(
    plane: ControlPlane, place: str, person: Person
) -> None:
    applied(plane, place, status=stopped())
    before = stored(plane, place)

    values = []
    for _ in range(2):
        done = person.types("resume", "lite")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == (
            "elasticepgroup.elasticep.dev/lite is tried again, after CudaGraphEnabled\n"
        )
        values.append(resume_value(plane, place))

    assert None not in values
    assert values[0] != values[1]
    after = stored(plane, place)
    assert (after["spec"], after["status"]) == (before["spec"], before["status"])


def test_resume_leaves_a_group_alone_that_has_not_failed(
    plane: ControlPlane, place: str, person: Person
) -> None:
    held = condition("Stalled", "True", "NameConflict", "Service lite is another's.")
    applied(plane, place, status={"observedGeneration": 1, "conditions": [held]})

    done = person.types("resume", "lite")

    assert done.returncode == 0
    assert "no failure" in done.stdout
    assert "Service lite is another's." in done.stdout
    assert resume_value(plane, place) is None


def test_explain_tells_a_stranger_what_is_wrong_and_what_to_do(
    plane: ControlPlane, place: str, person: Person
) -> None:
    applied(plane, place, status=stopped())

    done = person.types("explain", "lite")

    assert (done.returncode, done.stderr) == (0, "")
    assert f"lite in namespace {place}: does not serve, 4 are wanted" in done.stdout
    assert "not Ready, not Available, Stalled: CudaGraphEnabled (needs you)" in done.stdout
    assert "Failed 2 times in a row: CudaGraphEnabled, last 5 min ago, exit code 1" in done.stdout
    assert "What to do: Remove every CUDA graph flag." in done.stdout
    assert "Next try: none by itself" in done.stdout
    assert f"  | {GRAPHS}" in done.stdout
    assert "NothingToDo" not in done.stdout


def test_explain_says_when_nobody_has_looked_at_a_group(
    plane: ControlPlane, place: str, person: Person
) -> None:
    applied(plane, place)

    assert "is it running" in person.types("explain", "lite").stdout


def test_explain_says_when_the_status_is_older_than_the_spec(
    plane: ControlPlane, place: str, person: Person
) -> None:
    applied(plane, place, status=stopped())
    kubectl(plane, "scale", "eepg/lite", "--replicas=2", f"--namespace={place}")

    assert "Its spec is newer than this status" in person.types("explain", "lite").stdout


def test_a_reason_is_explained_without_a_cluster(person: Person) -> None:
    person.kubeconfig.unlink()

    assert "(needs you)" in person.types("explain", "CudaGraphEnabled").stdout


def test_the_options_mean_what_they_mean_to_kubectl(
    plane: ControlPlane, place: str, person: Person
) -> None:
    applied(plane, place, status=stopped())

    assert person.types("explain", "lite", "--context=elsewhere").returncode == 1
    for options in (["-n", place], [f"--namespace={place}"]):
        done = person.types("explain", "lite", "--context=elsewhere", *options)
        assert done.returncode == 0, done.stderr
    moved = person.kubeconfig.rename(person.kubeconfig.with_name("moved"))
    assert person.types("explain", "lite", f"--kubeconfig={moved}").returncode == 0


@pytest.mark.parametrize("command", ["resume", "explain"])
def test_a_group_that_does_not_exist_is_named(place: str, person: Person, command: str) -> None:
    done = person.types(command, "lite")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"error: there is no ElasticEPGroup 'lite' in namespace '{place}'\n"


def test_who_may_not_is_told_what_is_missing(
    plane: ControlPlane, place: str, tmp_path: Path
) -> None:
    applied(plane, place, status=stopped())
    token = kubectl(plane, "create", "token", "default", f"--namespace={place}").strip()
    powerless = write_kubeconfig(plane, tmp_path / "other", namespace=place, token=token)

    done = Person(plane, powerless).types("resume", "lite")

    assert done.returncode == 1
    assert "cannot get resource" in done.stderr
    assert resume_value(plane, place) is None


def test_a_cluster_that_is_not_there_is_no_traceback(
    plane: ControlPlane, place: str, tmp_path: Path
) -> None:
    dead = write_kubeconfig(plane, tmp_path / "dead", namespace=place, server="https://127.0.0.1:1")

    done = Person(plane, dead).types("resume", "lite")

    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "127.0.0.1:1" in done.stderr


@pytest.mark.parametrize("content", ["", "just words\n", "{"])
def test_a_file_that_is_no_kubeconfig_is_no_traceback(
    plane: ControlPlane, tmp_path: Path, content: str
) -> None:
    broken = tmp_path / "broken"
    broken.write_text(content, "utf-8")

    done = Person(plane, broken).types("explain", "lite")

    assert done.returncode == 1
    assert "error: no usable kubeconfig" in done.stderr
    assert "Traceback" not in done.stderr
