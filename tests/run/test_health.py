"""What the kubelet and Prometheus hear."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web
from prometheus_client import CollectorRegistry, Gauge

from elasticep.run import health
from testbed.controlplane import free_ports


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def ask(http: aiohttp.ClientSession, port: int, path: str) -> tuple[int, str]:
    async with http.get(f"http://127.0.0.1:{port}{path}") as response:
        return response.status, await response.text()


def app(*checks: health.Check) -> web.Application:
    registry = CollectorRegistry()
    Gauge("elasticep_leader", "1 while this process holds the Lease.", registry=registry).set(1)
    return health.application(checks=checks, registry=registry)


async def test_a_process_that_gets_on_is_alive(http: aiohttp.ClientSession) -> None:
    [port] = free_ports(1)
    async with health.serving(app(lambda: None), host="127.0.0.1", ports={port}):
        assert await ask(http, port, "/healthz") == (200, "ok\n")


async def test_a_process_that_does_not_get_on_says_why(http: aiohttp.ClientSession) -> None:
    [port] = free_ports(1)
    checks = (lambda: "one is stuck", lambda: None, lambda: "two is old")
    async with health.serving(app(*checks), host="127.0.0.1", ports={port}):
        assert await ask(http, port, "/healthz") == (503, "one is stuck\ntwo is old\n")


async def test_ready_is_up_whatever_is_wrong(http: aiohttp.ClientSession) -> None:
    [port] = free_ports(1)
    async with health.serving(app(lambda: "stuck"), host="127.0.0.1", ports={port}):
        assert await ask(http, port, "/readyz") == (200, "ok\n")


async def test_every_port_answers_everything(http: aiohttp.ClientSession) -> None:
    ports = free_ports(2)
    async with health.serving(app(), host="127.0.0.1", ports=set(ports)):
        for port in ports:
            status, text = await ask(http, port, "/metrics")
            assert status == 200
            assert "elasticep_leader 1.0" in text
            assert await ask(http, port, "/healthz") == (200, "ok\n")


async def test_a_port_is_free_again_afterwards(http: aiohttp.ClientSession) -> None:
    [port] = free_ports(1)
    for _ in range(2):
        async with health.serving(app(), host="127.0.0.1", ports={port}):
            assert await ask(http, port, "/readyz") == (200, "ok\n")


@pytest.mark.parametrize(
    ("last", "problem"),
    [
        (None, None),
        (100.0, None),
        (40.0, None),
        (39.0, "listing: 61 s ago, the limit is 60 s"),
    ],
)
def test_what_happens_again_and_again_must_have_happened_lately(
    last: float | None, problem: str | None
) -> None:
    check = health.too_long_ago("listing", last=lambda: last, clock=lambda: 100.0, limit=60)
    assert check() == problem


@pytest.mark.parametrize(
    ("age", "problem"),
    [(0.0, None), (60.0, None), (61.0, "a reconcile: for 61 s, the limit is 60 s")],
)
def test_what_is_in_progress_must_end_some_day(age: float, problem: str | None) -> None:
    assert health.too_long("a reconcile", age=lambda: age, limit=60)() == problem


async def test_a_loop_that_is_held_up_is_told() -> None:
    """The clock is the test's: in the second beat 13 s pass."""
    lags: asyncio.Queue[tuple[float, str | None]] = asyncio.Queue()
    times = iter([0.0, 0.5, 100.0, 113.5, 200.0, 200.5])
    heartbeat = health.Heartbeat(
        clock=lambda: next(times),
        report=lambda lag: lags.put_nowait((lag, heartbeat.problem())),
        every_seconds=0.5,
    )
    beating = asyncio.create_task(heartbeat.run())
    beats = [await asyncio.wait_for(lags.get(), 10) for _ in range(3)]
    beating.cancel()
    await asyncio.gather(beating, return_exceptions=True)
    assert beats == [(0.0, None), (13.0, "the event loop ran 13.0 s late"), (0.0, None)]
