"""The running cluster with the operator in it, and a namespace for each test."""

import uuid
from collections.abc import Iterator

import pytest
from tests.cluster.groups import Namespace, eventually
from tests.cluster.operator_pod import OperatorPod

from testbed.cluster import Cluster


def pytest_addoption(parser: pytest.Parser) -> None:
    """How often the operator is killed."""
    parser.addoption("--kills", type=int, default=2, help="times, amid three growths")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest test begins first, so that the others run beside it."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    """The cluster of ``make up``."""
    return Cluster.running()


@pytest.fixture(scope="session")
def operator(cluster: Cluster) -> OperatorPod:
    """The operator that ``make install`` has put there."""
    installed = OperatorPod(cluster=cluster)
    installed.start()
    return installed


@pytest.fixture
def namespace(cluster: Cluster, operator: OperatorPod) -> Iterator[Namespace]:
    """A namespace of the test's own, gone afterwards with all that is in it."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    cluster.kubectl("create", "namespace", name)
    yield Namespace(cluster=cluster, name=name)
    operator.start()
    # The groups first, and quickly: a namespace takes its time before it comes to its pods.
    cluster.kubectl("-n", name, "delete", "eepg", "--all", "--wait=false")
    cluster.kubectl("delete", "namespace", name, "--wait=false")
    eventually(lambda: not Namespace(cluster=cluster, name=name).pods(), within=90)
