"""The tasks that take keys from the queue and reconcile them."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from elasticep.kube.port import ConflictError, KubeError
from elasticep.run.logs import name_the_reconcile
from elasticep.run.queue import Work, WorkQueue
from elasticep.world.key import Key

_LOG = logging.getLogger(__name__)

Reconcile = Callable[[Key], Awaitable[timedelta | None]]


class Ledger(Protocol):
    """Who counts what the workers do."""

    def key_added(self) -> None:
        """A key became due."""

    def work_started(self, *, waited: float) -> None:
        """A reconcile began, so many seconds after its key was due."""

    def work_ended(self, *, seconds: float, result: str) -> None:
        """A reconcile ended as ``success``, ``requeue_after`` or ``error``."""


@dataclass(kw_only=True)
class Workers:
    """Reconcile every key that is rung for, several at once, no key twice at once."""

    queue: WorkQueue[Key]
    reconcile: Reconcile
    ledger: Ledger
    clock: Callable[[], float]
    """The event loop's own time."""
    limit: int = 16
    stopping: bool = field(default=False, init=False)
    """Whether nothing new is begun."""
    _news: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def ring(self, key: Key) -> None:
        """Something happened to the group, or may have."""
        if self.queue.add(key, now=self.clock()):
            self.ledger.key_added()
            self._news.set()

    def stop(self) -> None:
        """Begin nothing new; `run` returns when what is in progress has ended."""
        self.stopping = True
        self._news.set()

    async def run(self) -> None:
        """Work until stopped. Cancelled, it cancels what is in progress."""
        async with asyncio.TaskGroup() as tasks:
            while not self.stopping:
                self._news.clear()
                self._begin_what_is_due(tasks)
                # A worker that gets free, a key that is rung for, and a stop are all news.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout_at(self._next_alarm()):
                        await self._news.wait()

    def _begin_what_is_due(self, tasks: asyncio.TaskGroup) -> None:
        while self.queue.active < self.limit:
            work = self.queue.take(now=self.clock())
            if work is None:
                return
            self.ledger.work_started(waited=work.waited)
            tasks.create_task(self._do(work), name=f"reconcile {work.key}")

    def _next_alarm(self) -> float | None:
        # With every worker busy an alarm changes nothing, and a past one would spin.
        return self.queue.next_alarm() if self.queue.active < self.limit else None

    async def _do(self, work: Work[Key]) -> None:
        name_the_reconcile(work.key)
        result = await self._reconcile(work.key)
        self.ledger.work_ended(seconds=self.clock() - work.started, result=result)
        self._news.set()

    async def _reconcile(self, key: Key) -> str:
        try:
            again_in = await self.reconcile(key)
        except KubeError as error:
            wait = self.queue.failed(key, now=self.clock())
            # Somebody else was quicker, and nothing is wrong: the next try reads what they wrote.
            level = logging.INFO if isinstance(error, ConflictError) else logging.WARNING
            _LOG.log(level, "reconcile failed, next try in %.1f s: %s", wait, error)
        # A defect that one group brings out must not stop the others.
        except Exception:
            wait = self.queue.failed(key, now=self.clock())
            _LOG.exception("reconcile failed, next try in %.1f s", wait)
        else:
            seconds = again_in.total_seconds() if again_in is not None else None
            self.queue.succeeded(key, now=self.clock(), again_in=seconds)
            return "success" if again_in is None else "requeue_after"
        return "error"
