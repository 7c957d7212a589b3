"""What the engine's answers, good and bad, mean to the operator."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from elasticep.control.client import Accepted, Ambiguous, Busy, EngineClient, Refused
from elasticep.world.engine import (
    CompletionFailed,
    CompletionSucceeded,
    EngineState,
    EngineUnknown,
)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
IDLE = {
    "is_scaling_elastic_ep": False,
    "effective_ep_size": 4,
    "pending_ep_size": None,
    "scale_phase": "idle",
    "last_error": None,
}


@asynccontextmanager
async def engine(**routes: Handler) -> AsyncIterator[EngineClient]:
    """A client of a server that answers these routes, and 404 to every other."""
    app = web.Application()
    for name, handler in routes.items():
        app.router.add_route("*", f"/{name}", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    try:
        async with aiohttp.ClientSession() as session:
            yield EngineClient(session=session, url=f"http://127.0.0.1:{port}", admin_key="the-key")
    finally:
        await runner.cleanup()


def answering(status: int, body: object) -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") not in {"Bearer the-key", None}:
            return web.json_response({"error": "Unauthorized"}, status=401)
        if isinstance(body, str):
            return web.Response(status=status, text=body)
        return web.json_response(body, status=status)

    return handler


def resetting() -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    return handler


async def test_an_idle_engine_is_read_whole() -> None:
    async with engine(is_scaling_elastic_ep=answering(200, IDLE)) as client:
        assert await client.state() == EngineState(effective=4, pending=None, phase="idle")


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (401, {"error": "Unauthorized"}, "EngineUnauthorized"),
        (403, {"error": "ADMIN key not configured"}, "EngineUnauthorized"),
        (404, {"error": "not elastic"}, "NotElastic"),
        (500, "Internal Server Error", "EngineUnreachable"),
        (200, "<html>not json</html>", "EngineUnreachable"),
        (200, [1, 2], "EngineUnreachable"),
        (200, {"effective_ep_size": "4", "scale_phase": "idle"}, "EngineUnreachable"),
        (200, {"effective_ep_size": 4}, "EngineUnreachable"),
        (200, {**IDLE, "effective_ep_size": True}, "EngineUnreachable"),
    ],
)
async def test_an_answer_that_says_no_size_leaves_the_engine_unknown(
    status: int, body: object, reason: str
) -> None:
    async with engine(is_scaling_elastic_ep=answering(status, body)) as client:
        state = await client.state()

    assert isinstance(state, EngineUnknown)
    assert state.reason == reason


async def test_a_reset_connection_leaves_the_engine_unknown() -> None:
    async with engine(is_scaling_elastic_ep=resetting()) as client:
        assert isinstance(await client.state(), EngineUnknown)


async def test_nobody_listening_leaves_the_engine_unknown() -> None:
    async with aiohttp.ClientSession() as session:
        client = EngineClient(session=session, url="http://127.0.0.1:1", admin_key="k")

        assert isinstance(await client.state(), EngineUnknown)
        assert isinstance(await client.request_scale(6), Ambiguous)
        assert isinstance(await client.complete(), CompletionFailed)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, Accepted),
        (409, Busy),
        (400, Refused),
        (401, Refused),
        (404, Refused),
        (500, Ambiguous),
        (503, Ambiguous),
    ],
)
async def test_a_scale_request_is_accepted_busy_refused_or_ambiguous(
    status: int, expected: type
) -> None:
    async with engine(scale_elastic_ep=answering(status, {"error": "words"})) as client:
        assert isinstance(await client.request_scale(6), expected)


async def test_a_scale_request_is_sent_once_whatever_comes_back() -> None:
    seen: list[object] = []

    async def accept_then_reset(request: web.Request) -> web.StreamResponse:
        seen.append(await request.json())
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async with engine(scale_elastic_ep=accept_then_reset) as client:
        assert isinstance(await client.request_scale(6), Ambiguous)
        await asyncio.sleep(0)

    assert seen == [{"new_ep_size": 6}]


async def test_one_token_proves_serving() -> None:
    async with engine(generate=answering(200, {"text": "1"})) as client:
        assert isinstance(await client.complete(), CompletionSucceeded)


async def test_a_broken_world_proves_nothing() -> None:
    async with engine(generate=answering(500, "illegal memory access")) as client:
        answer = await client.complete()

    assert answer == CompletionFailed(message="500: illegal memory access")


async def test_a_keyed_engine_is_proven_through_its_open_route() -> None:
    """With ``--api-key`` among the user's arguments the operator has no key for /generate."""
    async with engine(
        generate=answering(401, {"error": "Unauthorized"}), health_generate=answering(200, "")
    ) as client:
        assert isinstance(await client.complete(), CompletionSucceeded)
