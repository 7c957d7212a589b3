"""Workers: which reconciles run, how many at once, and what becomes of those that fail."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from elasticep.kube.port import UnavailableError
from elasticep.run.queue import BackOff, WorkQueue
from elasticep.run.workers import Workers
from elasticep.world.key import Key

ONE, TWO, THREE = (Key(namespace="default", name=name) for name in ("one", "two", "three"))
DOWN = UnavailableError(503, "ServiceUnavailable", "etcd has no leader")
PATIENCE = 10


class Tally:
    """Counts what the workers tell."""

    def __init__(self) -> None:
        self.added = 0
        self.started = 0
        self.results: Counter[str] = Counter()

    def key_added(self) -> None:
        self.added += 1

    def work_started(self, *, waited: float) -> None:
        assert waited >= 0
        self.started += 1

    def work_ended(self, *, seconds: float, result: str) -> None:
        assert seconds >= 0
        self.results[result] += 1


class Reconciles:
    """Stands in for reconciling: each waits until the test lets it end."""

    def __init__(self) -> None:
        self.begun: asyncio.Queue[Key] = asyncio.Queue()
        self.running: Counter[Key] = Counter()
        self.most_at_once = 0
        self.cancelled: list[Key] = []
        self._ends: dict[Key, asyncio.Future[timedelta | None]] = {}

    async def __call__(self, key: Key) -> timedelta | None:
        self.running[key] += 1
        assert self.running[key] == 1, "no key is worked on twice at once"
        self.most_at_once = max(self.most_at_once, self.running.total())
        self._ends[key] = asyncio.get_running_loop().create_future()
        self.begun.put_nowait(key)
        try:
            return await self._ends[key]
        except asyncio.CancelledError:
            self.cancelled.append(key)
            raise
        finally:
            self.running[key] -= 1

    async def next(self) -> Key:
        return await asyncio.wait_for(self.begun.get(), PATIENCE)

    def end(self, key: Key, result: timedelta | Exception | None = None) -> None:
        if isinstance(result, Exception):
            self._ends[key].set_exception(result)
        else:
            self._ends[key].set_result(result)


@asynccontextmanager
async def working(
    reconcile: Callable[[Key], Awaitable[timedelta | None]], tally: Tally, *, limit: int = 16
) -> AsyncIterator[tuple[Workers, asyncio.Task[None]]]:
    workers = Workers(
        queue=WorkQueue(back_off=BackOff(first_seconds=0.01, longest_seconds=0.02)),
        reconcile=reconcile,
        ledger=tally,
        clock=asyncio.get_running_loop().time,
        limit=limit,
    )
    task = asyncio.create_task(workers.run())
    yield workers, task
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_ring_becomes_one_reconcile() -> None:
    reconciles, tally = Reconciles(), Tally()
    async with working(reconciles, tally) as (workers, task):
        for _ in range(3):
            workers.ring(ONE)
        assert await reconciles.next() == ONE
        reconciles.end(ONE)
        workers.stop()
        await asyncio.wait_for(task, PATIENCE)
    assert (tally.added, tally.started) == (1, 1)
    assert tally.results == {"success": 1}


async def test_a_ring_during_a_reconcile_becomes_another_one_after_it() -> None:
    reconciles = Reconciles()
    async with working(reconciles, Tally()) as (workers, _):
        workers.ring(ONE)
        await reconciles.next()
        workers.ring(ONE)
        workers.ring(TWO)
        assert await reconciles.next() == TWO, "ONE is still in progress"
        reconciles.end(ONE)
        assert await reconciles.next() == ONE


async def test_no_more_run_at_once_than_allowed() -> None:
    reconciles = Reconciles()
    async with working(reconciles, Tally(), limit=2) as (workers, _):
        for key in (ONE, TWO, THREE):
            workers.ring(key)
        assert [await reconciles.next(), await reconciles.next()] == [ONE, TWO]
        assert workers.queue.depth == 1
        reconciles.end(TWO)
        assert await reconciles.next() == THREE
    assert reconciles.most_at_once == 2


async def test_a_group_is_looked_at_again_when_it_asks_for_it() -> None:
    reconciles, tally = Reconciles(), Tally()
    async with working(reconciles, tally) as (workers, _):
        workers.ring(ONE)
        await reconciles.next()
        reconciles.end(ONE, timedelta(milliseconds=1))
        assert await reconciles.next() == ONE
    assert tally.results == {"requeue_after": 1}


@pytest.mark.parametrize("error", [DOWN, ZeroDivisionError("a defect")], ids=["trouble", "defect"])
async def test_what_fails_is_tried_again_and_stops_nobody_else(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    reconciles, tally = Reconciles(), Tally()
    async with working(reconciles, tally, limit=1) as (workers, _):
        workers.ring(ONE)
        await reconciles.next()
        workers.ring(TWO)
        reconciles.end(ONE, error)
        assert await reconciles.next() == TWO
        reconciles.end(TWO)
        assert await reconciles.next() == ONE
    assert tally.results == {"error": 1, "success": 1}
    [line] = caplog.records
    assert "next try in" in line.getMessage()
    assert (line.levelno, line.exc_info is None) in {
        (logging.WARNING, True),
        (logging.ERROR, False),
    }, "a traceback is for defects"


async def test_a_stop_lets_what_is_in_progress_end() -> None:
    reconciles = Reconciles()
    async with working(reconciles, Tally(), limit=1) as (workers, task):
        workers.ring(ONE)
        workers.ring(TWO)
        await reconciles.next()
        workers.stop()
        await asyncio.sleep(0)
        assert not task.done()
        reconciles.end(ONE)
        await asyncio.wait_for(task, PATIENCE)
    assert reconciles.begun.empty(), "TWO is not begun any more"
    assert reconciles.cancelled == []


async def test_a_cancellation_cuts_off_what_is_in_progress() -> None:
    reconciles = Reconciles()
    async with working(reconciles, Tally()) as (workers, task):
        workers.ring(ONE)
        await reconciles.next()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert reconciles.cancelled == [ONE]
