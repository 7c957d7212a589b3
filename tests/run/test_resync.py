"""The resync: every group is rung for, and trouble is neither hidden nor fatal."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from tests.kube.fake import FakeKube, Fault
from tests.kube.sample_objects import group

from elasticep.kube.port import GROUPS, UnavailableError
from elasticep.run.groups import GroupBook
from elasticep.run.metrics import Metrics
from elasticep.run.resync import Resync
from elasticep.world.key import Key

PATIENCE = 10
DOWN = UnavailableError(0, "NoAnswer", "connection refused")


@asynccontextmanager
async def resyncing(
    kube: FakeKube, *, namespaces: Sequence[str] = (), every_seconds: float = 3600
) -> AsyncIterator[tuple[Resync, asyncio.Queue[Key]]]:
    rung: asyncio.Queue[Key] = asyncio.Queue()
    resync = Resync(
        kube=kube,
        namespaces=namespaces,
        ring=rung.put_nowait,
        book=GroupBook(metrics=Metrics(), now=lambda: datetime.now(tz=UTC)),
        clock=asyncio.get_running_loop().time,
        spread=lambda: 1.0,
        every_seconds=every_seconds,
    )
    task = asyncio.create_task(resync.run())
    yield resync, rung
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def heard(rung: asyncio.Queue[Key], count: int) -> set[str]:
    return {str(await asyncio.wait_for(rung.get(), PATIENCE)) for _ in range(count)}


async def eventually(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            if holds():
                return
            await asyncio.sleep(0.001)


@pytest.fixture
async def kube() -> FakeKube:
    kube = FakeKube()
    for namespace, name in (("a", "one"), ("a", "two"), ("b", "one"), ("c", "one")):
        await kube.create(GROUPS, group(namespace, name))
    return kube


async def test_every_group_is_rung_for_at_once(kube: FakeKube) -> None:
    async with resyncing(kube) as (resync, rung):
        assert await heard(rung, 4) == {"a/one", "a/two", "b/one", "c/one"}
        assert resync.last_success is not None


async def test_only_some_namespaces_are_looked_at(kube: FakeKube) -> None:
    async with resyncing(kube, namespaces=["a", "c"]) as (_, rung):
        assert await heard(rung, 3) == {"a/one", "a/two", "c/one"}


async def test_it_comes_round_again(kube: FakeKube) -> None:
    async with resyncing(kube, namespaces=["b"], every_seconds=0.01) as (_, rung):
        assert await heard(rung, 3) == {"b/one"}


async def test_a_list_that_fails_is_tried_again_and_does_not_count(
    kube: FakeKube, caplog: pytest.LogCaptureFixture
) -> None:
    kube.faults.append(Fault(verb="list", resource=GROUPS, error=DOWN, times=10**6))
    async with resyncing(kube, every_seconds=0.01) as (resync, rung):
        await eventually(lambda: kube.requests["list"] >= 3)
        assert resync.last_success is None
        assert rung.empty()
        kube.faults.clear()
        assert await heard(rung, 4) == {"a/one", "a/two", "b/one", "c/one"}
        assert resync.last_success is not None
    assert "groups could not be listed: connection refused" in caplog.text


async def test_the_series_of_a_group_that_is_gone_end(kube: FakeKube) -> None:
    async with resyncing(kube, namespaces=["a"], every_seconds=0.01) as (resync, rung):
        await heard(rung, 2)
        ready = resync.book.metrics.registry.get_sample_value
        labels = {"namespace": "a", "name": "two"}
        assert ready("elasticep_ready", labels) == 0
        kube.remove(GROUPS, "a", "two")
        await eventually(lambda: ready("elasticep_ready", labels) is None)
