"""What the holder of the Lease does: until it is told to stop, or anything of it ends."""

import asyncio
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from elasticep.kube.lease import Lease, Unopposed
from elasticep.run.resync import Resync
from elasticep.run.workers import Workers

_DRAIN_SECONDS = 8.0
"""For the reconciles in progress; a request to an engine that is cut off would have an unknown
outcome. With the Lease's release and kopf's end it stays below a pod's 30 s of grace."""

Watching = Callable[[], AbstractAsyncContextManager[Collection[asyncio.Task[None]]]]
"""The watches are on inside of it; its value is the tasks that keep them so."""


class DutyEndedError(Exception):
    """Something that should go on for ever has ended."""


@dataclass(frozen=True, kw_only=True)
class Duty:
    """Watches, resync and workers, for as long as the Lease is held."""

    lease: Lease | Unopposed
    workers: Workers
    resync: Resync
    watching: Watching
    listen_for_stop: Callable[[], None]
    """Lets signals set the event that `fulfil` waits for; needed anew when kopf has begun."""

    async def fulfil(self, stop: asyncio.Event) -> None:
        """Return when stopped, with nothing in progress and the Lease given back.

        Raises:
            LeaseLostError: what was in progress has been cancelled on the spot.
            DutyEndedError: something else ended.
            Exception: what made a watch end, as kopf tells it.
        """
        # These begin before kopf does, which at its end cancels every task that is younger.
        leading = asyncio.create_task(self.lease.hold(), name="the Lease")
        working = asyncio.create_task(self.workers.run(), name="the workers")
        resyncing = asyncio.create_task(self.resync.run(), name="the resync")
        stopping = asyncio.create_task(stop.wait(), name="the stop")
        ours: set[asyncio.Task[Any]] = {leading, working, resyncing, stopping}
        try:
            async with self.watching() as watches:
                self.listen_for_stop()
                ended, _ = await asyncio.wait(
                    {*ours, *watches}, return_when=asyncio.FIRST_COMPLETED
                )
                await self._drain(working, leading)
                if not leading.done():
                    await _cancel([leading])
                    await self.lease.release()
        finally:
            await _cancel(ours)
        _raise_unless_stopped(ended, stopping)

    async def _drain(self, working: asyncio.Task[None], leading: asyncio.Task[None]) -> None:
        """Nothing is in progress any more: ended while we lead and time allows, or else cut off."""
        self.workers.stop()
        await asyncio.wait(
            {working, leading}, timeout=_DRAIN_SECONDS, return_when=asyncio.FIRST_COMPLETED
        )
        await _cancel([working])


async def _cancel(tasks: Collection[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _raise_unless_stopped(
    ended: Collection[asyncio.Task[Any]], stopping: asyncio.Task[Any]
) -> None:
    if stopping in ended:
        return
    for task in ended:
        task.result()
        raise DutyEndedError(f"{task.get_name()} ended, which nothing had asked for")
