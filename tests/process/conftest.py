"""A real API server on which the operator is installed, and processes that end with the test."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.kube.api_server import api_server, kubectl, make_namespace
from tests.process import operator_process
from tests.process.operator_process import NAMESPACE, OperatorProcess, Start, kubeconfig_for

from testbed.controlplane import ControlPlane


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """An API server with all that `deploy/` installs."""
    with api_server(tmp_path_factory.mktemp("plane"), crd=False) as plane:
        operator_process.install(plane)
        yield plane


@pytest.fixture
def namespace(plane: ControlPlane) -> str:
    """A namespace of the test's own."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    make_namespace(plane, name)
    return name


@pytest.fixture
def operators_kubeconfig(plane: ControlPlane, tmp_path: Path) -> Path:
    """The operator's own way in."""
    return kubeconfig_for(plane, "elasticep-operator", path=tmp_path / "kubeconfig")


@pytest.fixture
def start(plane: ControlPlane, operators_kubeconfig: Path, tmp_path: Path) -> Iterator[Start]:
    """Begins a process, which ends at the latest with the test; its Lease goes too."""
    begun: list[OperatorProcess] = []

    def start_one(
        *arguments: str, kubeconfig: Path | None = None, name: str = "operator-1"
    ) -> OperatorProcess:
        way_in = kubeconfig or operators_kubeconfig
        begun.append(
            operator_process.start(*arguments, kubeconfig=way_in, directory=tmp_path, name=name)
        )
        return begun[-1]

    yield start_one
    for each in begun:
        each.process.kill()
        each.process.wait()
    kubectl(plane, "delete", "leases", "--all", f"--namespace={NAMESPACE}")
