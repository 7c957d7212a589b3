"""Requests in, tokens out: one forward pass at a time makes one token for each running request."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

WORDS = (" elastic", " expert", " parallelism", " grows", " while", " it", " serves", ".")


class WorldBrokenError(RuntimeError):
    """A rank is gone and the forward pass cannot be completed."""


@dataclass(eq=False)
class Request:
    """A prompt being answered by one data-parallel rank."""

    max_tokens: int
    rank: int
    made: int = 0
    outbox: asyncio.Queue[str | WorldBrokenError | None] = field(default_factory=asyncio.Queue)

    async def tokens(self) -> AsyncIterator[str]:
        """The answer, token by token.

        Raises:
            WorldBrokenError: the group cannot serve any more.

        """
        while (item := await self.outbox.get()) is not None:
            if isinstance(item, WorldBrokenError):
                raise item
            yield item


class Batcher:
    """Continuous batching over all ranks of the group."""

    def __init__(
        self,
        *,
        token_seconds: Callable[[], float],
        max_running: int,
        after_pass: Callable[[], Awaitable[WorldBrokenError | None]],
    ) -> None:
        self.forward_passes = 0
        self.last_token_at = float("-inf")
        self.finished: Counter[str] = Counter()
        self.running: list[Request] = []
        self.queue: deque[Request] = deque()
        self._token_seconds = token_seconds
        self._max_running = max_running
        self._after_pass = after_pass
        self._turn = itertools.count()
        self._work = asyncio.Event()
        self._stopped = False
        self.load_changed = asyncio.Event()

    @property
    def busy(self) -> bool:
        """Whether any request is running or queued."""
        return bool(self.running or self.queue)

    @property
    def busy_ranks(self) -> set[int]:
        """The ranks that have requests."""
        return {request.rank for request in (*self.running, *self.queue)}

    def submit(self, *, max_tokens: int, ranks: int) -> Request:
        """Queue a request on the next rank in turn."""
        request = Request(max_tokens=max_tokens, rank=next(self._turn) % ranks)
        self.queue.append(request)
        self._work.set()
        self.load_changed.set()
        return request

    def abort(self, request: Request) -> None:
        """Forget a request whose client is gone; finished ones are forgotten already."""
        if request in self.running:
            self.running.remove(request)
        elif request in self.queue:
            self.queue.remove(request)
        else:
            return
        self.load_changed.set()
        self.finished["aborted"] += 1

    async def run(self) -> None:
        """Make forward passes while there is work, until it is stopped."""
        while True:
            if not self.busy:
                self._work.clear()
                await self._work.wait()
            if self._stopped:
                return
            await self._forward()

    def stop(self) -> None:
        """Make no further forward pass: requests that come now are never answered."""
        self._stopped = True

    async def _forward(self) -> None:
        while self.queue and len(self.running) < self._max_running:
            self.running.append(self.queue.popleft())
        await asyncio.sleep(self._token_seconds())
        self.forward_passes += 1
        # The engine admits ranks inside the forward pass, so its tokens come out after that.
        broken = await self._after_pass()
        if broken is None:
            self.last_token_at = asyncio.get_running_loop().time()
        for request in list(self.running):
            self._hand_over(request, broken)
        self.load_changed.set()

    def _hand_over(self, request: Request, broken: WorldBrokenError | None) -> None:
        if broken is not None:
            request.outbox.put_nowait(broken)
            self._finish(request, "failed")
            return
        request.outbox.put_nowait(WORDS[request.made % len(WORDS)])
        request.made += 1
        if request.made >= request.max_tokens:
            request.outbox.put_nowait(None)
            self._finish(request, "succeeded")

    def _finish(self, request: Request, outcome: str) -> None:
        self.running.remove(request)
        self.finished[outcome] += 1

    def load_of(self, rank: int) -> tuple[int, int]:
        """Running and queued requests of one rank."""
        return (
            sum(request.rank == rank for request in self.running),
            sum(request.rank == rank for request in self.queue),
        )
