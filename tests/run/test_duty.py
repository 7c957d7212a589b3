"""In which order the holder of the Lease stops, for each thing that can make it stop."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from tests.kube.fake import FakeKube

from elasticep.kube.lease import Lease, LeaseLostError, Terms
from elasticep.kube.port import LEASES
from elasticep.run.duty import Duty, DutyEndedError
from elasticep.run.groups import GroupBook
from elasticep.run.metrics import Metrics
from elasticep.run.queue import BackOff, WorkQueue
from elasticep.run.resync import Resync
from elasticep.run.workers import Workers
from elasticep.world.key import Key

KEY = Key(namespace="default", name="lite")
PATIENCE = 10


class Office:
    """A duty whose one reconcile lasts until the test lets it end."""

    def __init__(self) -> None:
        self.kube = FakeKube()
        self.stop = asyncio.Event()
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()
        self.story: list[str] = []
        self.watch: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        metrics = Metrics()
        clock = asyncio.get_running_loop().time
        self.workers = Workers(
            queue=WorkQueue(back_off=BackOff()), reconcile=self.work, ledger=metrics, clock=clock
        )
        self.lease = Lease(
            kube=self.kube,
            namespace="default",
            name="one",
            identity="us",
            now=lambda: datetime.now(tz=UTC),
            terms=Terms(duration=3, renew_deadline=2, retry_period=0.01),
        )
        self.duty = Duty(
            lease=self.lease,
            workers=self.workers,
            resync=Resync(
                kube=self.kube,
                namespaces=(),
                ring=self.workers.ring,
                book=GroupBook(metrics=metrics, now=lambda: datetime.now(tz=UTC)),
                clock=clock,
                spread=lambda: 1.0,
            ),
            watching=self.watching,
            listen_for_stop=lambda: None,
        )

    async def work(self, _: Key) -> timedelta | None:
        self.begun.set()
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.story.append("work cut off")
            raise
        self.story.append(f"work done, the Lease held by {await self.holder() or 'nobody'}")
        return None

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[Collection[asyncio.Task[None]]]:
        async def watch() -> None:
            await self.watch

        task = asyncio.create_task(watch())
        yield [task]
        self.story.append(f"watches end, the Lease held by {await self.holder() or 'nobody'}")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def holder(self) -> str:
        lease = await self.kube.get(LEASES, "default", "one")
        name: str = lease["spec"]["holderIdentity"]
        return name

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[asyncio.Task[None]]:
        """The Lease is held and a reconcile is in progress."""
        await self.lease.acquire()
        task = asyncio.create_task(self.duty.fulfil(self.stop))
        self.workers.ring(KEY)
        await asyncio.wait_for(self.begun.wait(), PATIENCE)
        yield task
        assert task.done()


async def test_a_stop_lets_the_work_end_and_then_gives_the_lease_back() -> None:
    office = Office()
    async with office.at_work() as duty:
        office.stop.set()
        await until_it_takes_no_more(office)
        assert not duty.done()
        office.may_end.set()
        await asyncio.wait_for(duty, PATIENCE)
    assert office.story == [
        "work done, the Lease held by us",
        "watches end, the Lease held by nobody",
    ]


async def test_a_lost_lease_cuts_the_work_off() -> None:
    office = Office()
    async with office.at_work() as duty:
        lease = await office.kube.get(LEASES, "default", "one")
        theirs = {**lease["spec"], "holderIdentity": "them"}
        office.kube.change(LEASES, "default", "one", lambda lease: lease.update(spec=theirs))
        with pytest.raises(LeaseLostError, match="held by them"):
            await asyncio.wait_for(duty, PATIENCE)
    assert office.story == ["work cut off", "watches end, the Lease held by them"]


async def test_a_lease_that_is_lost_while_the_work_ends_cuts_it_off() -> None:
    office = Office()
    async with office.at_work() as duty:
        office.stop.set()
        await until_it_takes_no_more(office)
        theirs = {"holderIdentity": "them", "leaseDurationSeconds": 15}
        office.kube.change(LEASES, "default", "one", lambda lease: lease.update(spec=theirs))
        await asyncio.wait_for(duty, PATIENCE)
    assert office.story == ["work cut off", "watches end, the Lease held by them"]


def break_off(office: Office) -> None:
    office.watch.set_exception(ConnectionError("forbidden"))


def end(office: Office) -> None:
    office.watch.set_result(None)


@pytest.mark.parametrize(
    ("happens", "error"), [(break_off, ConnectionError), (end, DutyEndedError)]
)
async def test_a_watch_that_ends_ends_all_in_good_order(
    happens: Callable[[Office], None], error: type[Exception]
) -> None:
    office = Office()
    async with office.at_work() as duty:
        happens(office)
        await until_it_takes_no_more(office)
        office.may_end.set()
        with pytest.raises(error):
            await asyncio.wait_for(duty, PATIENCE)
    assert office.story == [
        "work done, the Lease held by us",
        "watches end, the Lease held by nobody",
    ]


async def until_it_takes_no_more(office: Office) -> None:
    """The duty has noticed that it is to end: a further group is not begun."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if office.workers.stopping:
                return
            await asyncio.sleep(0.001)
