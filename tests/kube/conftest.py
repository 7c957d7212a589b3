"""A `Kube` twice over, in memory and real, and a namespace for each test."""

import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from fake import FakeKube
from kubernetes.aio import config
from kubernetes.aio.client import ApiClient, Configuration

from elasticep.kube.client import KubeClient
from elasticep.kube.port import Kube
from testbed.controlplane import ControlPlane, control_plane
from testbed.progress import PlainReport

CRD = Path(__file__).parents[2] / "crds" / "elasticepgroups.yaml"


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A real API server that serves ElasticEPGroup; no controllers, no nodes."""
    directory = tmp_path_factory.mktemp("plane")
    with control_plane(directory=directory, report=PlainReport(stream=sys.stderr)) as plane:
        kubectl(plane, "apply", "--server-side", f"--filename={CRD}")
        kubectl(plane, "wait", "--for=condition=Established", "crd", "--all")
        yield plane


def kubectl(plane: ControlPlane, *words: str) -> None:
    """The administrator does something."""
    done = subprocess.run(
        [plane.kube, "kubectl", f"--kubeconfig={plane.kubeconfig}", *words],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def namespace() -> str:
    return f"test-{uuid.uuid4().hex[:8]}"


@pytest.fixture
async def real(plane: ControlPlane, namespace: str) -> AsyncIterator[Kube]:
    """The client against the real API server, where the test's namespace exists."""
    kubectl(plane, "create", "namespace", namespace)
    # A pod is refused until its namespace has this, which a controller would make.
    kubectl(plane, "create", "serviceaccount", "default", f"--namespace={namespace}")
    client = await connect(plane)
    yield client
    await client.close()


async def connect(plane: ControlPlane) -> KubeClient:
    configuration = Configuration()
    await config.load_kube_config(str(plane.kubeconfig), client_configuration=configuration)
    return KubeClient(ApiClient(configuration))


@pytest.fixture(params=["fake", "real"])
def kube(request: pytest.FixtureRequest) -> Kube:
    """Each of the two, one after the other."""
    if request.param == "fake":
        return FakeKube()
    real: Kube = request.getfixturevalue("real")
    return real
