import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml
from tests.deploy.repository import ROOT, Kubectl

from testbed.controlplane import ControlPlane, control_plane
from testbed.places import Places
from testbed.programs import build_kube
from testbed.progress import PlainReport


@pytest.fixture(scope="session")
def kustomize() -> Callable[[str], list[dict[str, Any]]]:
    """The objects that a directory below deploy/kustomize makes."""
    kube = build_kube(places=Places.from_environment(), report=PlainReport(stream=sys.stderr))

    def build(directory: str) -> list[dict[str, Any]]:
        argv = [kube, "kubectl", "kustomize", ROOT / "deploy" / "kustomize" / directory]
        done = subprocess.run(argv, check=False, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        return list(yaml.safe_load_all(done.stdout))

    return build


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """An API server with controllers, which aggregate roles, and without nodes."""
    directory = tmp_path_factory.mktemp("deploy")
    report = PlainReport(stream=sys.stderr)
    with control_plane(directory=directory, report=report, controllers=True) as running:
        yield running


@pytest.fixture(scope="session")
def kubectl(plane: ControlPlane) -> Kubectl:
    """kubectl as the administrator, in the root of the repository."""

    def call(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        argv = [plane.kube, "kubectl", f"--kubeconfig={plane.kubeconfig}", *words]
        return subprocess.run(
            argv, check=False, capture_output=True, text=True, input=stdin, cwd=ROOT
        )

    return call


@pytest.fixture(scope="session")
def installed(kubectl: Kubectl) -> Kubectl:
    """kubectl, with the operator's manifests applied."""
    applied = kubectl("apply", "--server-side", "-k", "deploy/kustomize/base")
    assert (applied.returncode, applied.stderr) == (0, ""), "applied without a warning"
    return kubectl
