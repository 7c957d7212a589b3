"""What rings, and how often: each change of a group or of one of its pods rings once."""

import asyncio
import base64
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import kopf
import pytest
import yaml
from tests.kube.api_server import connect
from tests.kube.sample_objects import group, only, pod, with_status

from elasticep.api import names
from elasticep.kube.client import KubeClient
from elasticep.kube.port import GROUPS, PODS
from elasticep.run import doorbell
from elasticep.run.groups import GroupBook
from elasticep.run.metrics import Metrics
from elasticep.world.key import Key
from testbed.controlplane import ControlPlane


class Rings:
    """The keys that were rung for, in order."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Key] = asyncio.Queue()

    def ring(self, key: Key) -> None:
        self._queue.put_nowait(key)

    async def next(self) -> str:
        """The name of the next group that is rung for."""
        return (await asyncio.wait_for(self._queue.get(), 60)).name


@pytest.fixture
async def kube(plane: ControlPlane) -> AsyncIterator[KubeClient]:
    client = await connect(plane)
    yield client
    await client.close()


@pytest.fixture
async def rings(
    plane: ControlPlane, kube: KubeClient, namespace: str, tmp_path: Path
) -> AsyncIterator[Rings]:
    """The doorbell is on: a first group has been heard."""

    def login(**_: Any) -> kopf.ConnectionInfo:
        config = yaml.safe_load(plane.kubeconfig.read_text("utf-8"))
        cluster = config["clusters"][0]["cluster"]
        authority = tmp_path / "authority.crt"
        authority.write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
        return kopf.ConnectionInfo(
            server=cluster["server"],
            ca_path=str(authority),
            token=config["users"][0]["user"]["token"],
        )

    rings = Rings()
    book = GroupBook(metrics=Metrics(), now=lambda: datetime.now(tz=UTC))
    handlers = doorbell.handlers(ring=rings.ring, book=book, login=login)
    await kube.create(GROUPS, group(namespace, "before"))
    async with doorbell.watching(handlers=handlers, namespaces=[namespace]):
        assert await rings.next() == "before"
        yield rings
    # TLS connections need the loop for a moment to close.
    # https://docs.aiohttp.org/en/stable/client_advanced.html#graceful-shutdown
    await asyncio.sleep(0.25)


def pod_of(namespace: str, group_name: str, **labels: str) -> dict[str, Any]:
    """A pod that bears a group's labels."""
    made = pod(namespace, f"{group_name}-{uuid.uuid4().hex[:6]}")
    made["metadata"]["labels"] = {
        names.LABEL_GROUP: group_name,
        names.LABEL_MANAGED_BY: names.MANAGED_BY,
        **labels,
    }
    return made


async def rung_before_another(rings: Rings, kube: KubeClient, namespace: str) -> list[str]:
    """What has rung by now: another group is made, and all that rings before it counts."""
    another = f"another-{uuid.uuid4().hex[:6]}"
    await kube.create(GROUPS, group(namespace, another))
    heard = [await rings.next()]
    while heard[-1] != another:
        heard.append(await rings.next())
    return heard[:-1]


async def test_each_change_of_a_group_rings_once(
    rings: Rings, kube: KubeClient, namespace: str
) -> None:
    made = await kube.create(GROUPS, group(namespace, "lite"))
    assert await rings.next() == "lite"
    spec = {**made["spec"], "replicas": 2}
    changed = await kube.replace(GROUPS, {**made, "spec": spec})
    assert await rings.next() == "lite"
    report = with_status(changed, replicas=1)
    await kube.apply(GROUPS, report, manager="elasticep-status", subresource="status")
    assert await rings.next() == "lite"
    await kube.delete(GROUPS, namespace, "lite", uid=made["metadata"]["uid"])
    assert await rings.next() == "lite"
    assert await rung_before_another(rings, kube, namespace) == []


async def test_each_change_of_a_pod_rings_once_for_its_group(
    rings: Rings, kube: KubeClient, namespace: str
) -> None:
    made = await kube.create(PODS, pod_of(namespace, "lite"))
    assert await rings.next() == "lite"
    labels = {names.LABEL_SERVING: "true"}
    await kube.apply(PODS, only(made, labels=labels), manager="elasticep")
    assert await rings.next() == "lite"
    assert await rung_before_another(rings, kube, namespace) == []


async def test_the_end_of_a_pod_rings(rings: Rings, kube: KubeClient, namespace: str) -> None:
    """Even of one on no node it is two changes: its deletion is asked for, then it is gone."""
    made = await kube.create(PODS, pod_of(namespace, "lite"))
    assert await rings.next() == "lite"
    await kube.delete(PODS, namespace, made["metadata"]["name"], uid=made["metadata"]["uid"])
    assert await rings.next() == "lite"
    assert await rung_before_another(rings, kube, namespace) in (["lite"], [])


async def test_an_apply_that_changes_nothing_does_not_ring(
    rings: Rings, kube: KubeClient, namespace: str
) -> None:
    made = await kube.create(PODS, pod_of(namespace, "lite"))
    label = only(made, labels={names.LABEL_SERVING: "true"})
    await kube.apply(PODS, label, manager="elasticep")
    assert [await rings.next() for _ in range(2)] == ["lite", "lite"]
    await kube.apply(PODS, label, manager="elasticep")
    assert await rung_before_another(rings, kube, namespace) == []


async def test_pods_of_others_do_not_ring(rings: Rings, kube: KubeClient, namespace: str) -> None:
    await kube.create(PODS, pod(namespace, "plain"))
    await kube.create(PODS, pod_of(namespace, "lite", **{names.LABEL_MANAGED_BY: "helm"}))
    assert await rung_before_another(rings, kube, namespace) == []


async def test_a_pod_that_loses_its_labels_rings_once_more(
    rings: Rings, kube: KubeClient, namespace: str
) -> None:
    made = await kube.create(PODS, pod_of(namespace, "lite"))
    assert await rings.next() == "lite"
    del made["metadata"]["labels"][names.LABEL_GROUP]
    await kube.replace(PODS, made)
    assert await rings.next() == "lite"
    assert await rung_before_another(rings, kube, namespace) == []
