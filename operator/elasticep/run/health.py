"""What the kubelet and Prometheus ask the process.

Alive means getting on with the work, not merely answering. Ready means that the process is up, and
not that it holds the Lease: a rolling update would wait for ever for a second holder.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

Check = Callable[[], str | None]
"""Says what is wrong; nothing when all is well."""


@dataclass(kw_only=True)
class Heartbeat:
    """How late the event loop runs what is due."""

    clock: Callable[[], float]
    report: Callable[[float], None]
    every_seconds: float = 1.0
    longest_seconds: float = 10.0
    lag: float = field(default=0.0, init=False)

    async def run(self) -> None:
        """Measure for ever."""
        while True:
            due = self.clock() + self.every_seconds
            await asyncio.sleep(self.every_seconds)
            self.lag = max(0.0, self.clock() - due)
            self.report(self.lag)

    def problem(self) -> str | None:
        """The loop was held up by something that does not await."""
        if self.lag <= self.longest_seconds:
            return None
        return f"the event loop ran {self.lag:.1f} s late"


def too_long_ago(
    what: str, *, last: Callable[[], float | None], clock: Callable[[], float], limit: float
) -> Check:
    """A check that what happens again and again has happened lately, once it has begun."""

    def check() -> str | None:
        moment = last()
        if moment is None or clock() - moment <= limit:
            return None
        return f"{what}: {clock() - moment:.0f} s ago, the limit is {limit:.0f} s"

    return check


def too_long(what: str, *, age: Callable[[], float], limit: float) -> Check:
    """A check that what is in progress does not take for ever."""

    def check() -> str | None:
        return None if age() <= limit else f"{what}: for {age():.0f} s, the limit is {limit:.0f} s"

    return check


def application(*, checks: Sequence[Check], registry: CollectorRegistry) -> web.Application:
    """The routes: /healthz, /readyz, /metrics."""

    async def healthz(_: web.Request) -> web.Response:
        problems = [problem for check in checks if (problem := check()) is not None]
        if problems:
            return web.Response(status=503, text="\n".join(problems) + "\n")
        return web.Response(text="ok\n")

    async def readyz(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def metrics(_: web.Request) -> web.Response:
        body = generate_latest(registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})

    app = web.Application()
    app.add_routes(
        [
            web.get("/healthz", healthz),
            web.get("/readyz", readyz),
            web.get("/metrics", metrics),
        ]
    )
    return app


@asynccontextmanager
async def serving(app: web.Application, *, host: str, ports: set[int]) -> AsyncIterator[None]:
    """The application answers on every one of the ports until the block ends.

    Raises:
        OSError: a port is taken.
    """
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        for port in sorted(ports):
            await web.TCPSite(runner, host, port).start()
        yield
    finally:
        await runner.cleanup()
