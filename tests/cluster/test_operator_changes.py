"""The operator is killed, and another release of it takes its place, while groups serve."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cluster.groups import Namespace, eventually
from tests.cluster.moves import (
    await_settled,
    create_small_group,
    pod_uids,
    quick,
    successor,
    traffic_to,
)
from tests.cluster.operator_pod import OperatorPod

from testbed.catalogue import build_project_images
from testbed.cluster import Cluster
from testbed.images import Image, ImageStore
from testbed.progress import open_report

pytestmark = [pytest.mark.cluster, pytest.mark.disturbs]

NEXT_RELEASE = Path(__file__).parent / "next_release"
LABEL = "example.com/release"


@pytest.fixture
def next_release(cluster: Cluster, operator: OperatorPod) -> Iterator[str]:
    """The image of an operator that makes other pods, on every node."""
    with open_report() as report:
        store = ImageStore(places=cluster.places, report=report)
        (this,) = build_project_images(store, engine_versions=())
        image = store.build(
            Image(
                reference="docker.io/elasticep/operator:next",
                dockerfile=NEXT_RELEASE / "Dockerfile",
                context=NEXT_RELEASE,
                base=this,
            )
        )
        cluster.load([image], report=report)
    yield image.reference
    operator.release(this.reference)


def test_an_upgrade_of_the_operator_restarts_no_pod(
    namespace: Namespace, operator: OperatorPod, next_release: str
) -> None:
    group = create_small_group(namespace, replicas=2)
    group.await_size(3)
    before = pod_uids(group)

    with traffic_to(group) as traffic:
        operator.release(next_release)
        eventually(lambda: LABEL in labels_of_service(namespace), within=30)
        await_settled(group, ranks=3, pods=2, within=30)
        assert pod_uids(group) == before
        group.scale(3)
        await_settled(group, ranks=4, pods=3)

    assert set(before) < set(pod_uids(group))
    assert [LABEL in pod["metadata"]["labels"] for pod in group.pods()] == [False, False, True]
    assert not traffic.report().failed, str(traffic.report())


def labels_of_service(namespace: Namespace) -> dict[str, str]:
    """What a newer operator writes as soon as it has looked at the group."""
    (service,) = namespace.items("services")
    found: dict[str, str] = service["metadata"]["labels"]
    return found


def test_an_operator_killed_twice_in_a_surge_finishes_it_without_a_lost_request(
    namespace: Namespace, operator: OperatorPod
) -> None:
    group = create_small_group(namespace, replicas=2, template=quick(LOAD_SECONDS="2"))
    group.await_size(3)
    with traffic_to(group) as traffic:
        group.scale(1)
        taking_over = eventually(lambda: successor(group), within=30, explain=group.describe)
        operator.kill()
        eventually(lambda: group.status().get("retiring"), within=90, explain=group.describe)
        operator.kill()
        await_settled(group, ranks=2, pods=1, within=120)
    assert group.status()["incarnation"]["id"] == taking_over
    assert not traffic.report().failed, str(traffic.report())
