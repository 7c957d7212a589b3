"""A `Kube` twice over, in memory and real, and a namespace for each test."""

import uuid
from collections.abc import AsyncIterator, Iterator

import pytest
from tests.kube.api_server import api_server, connect, make_namespace
from tests.kube.fake import FakeKube

from elasticep.kube.port import Kube
from testbed.controlplane import ControlPlane


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A real API server."""
    with api_server(tmp_path_factory.mktemp("plane")) as plane:
        yield plane


@pytest.fixture
def namespace() -> str:
    return f"test-{uuid.uuid4().hex[:8]}"


@pytest.fixture
async def real(plane: ControlPlane, namespace: str) -> AsyncIterator[Kube]:
    """The client against the real API server, where the test's namespace exists."""
    make_namespace(plane, namespace)
    client = await connect(plane)
    yield client
    await client.close()


@pytest.fixture(params=["fake", "real"])
def kube(request: pytest.FixtureRequest) -> Kube:
    """Each of the two, one after the other."""
    if request.param == "fake":
        return FakeKube()
    real: Kube = request.getfixturevalue("real")
    return real
