"""An engine that says what it is told to say, on a real port."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web


@dataclass(kw_only=True)
class EngineStub:
    """A leader's HTTP server: grows at the first token after a request for more ranks."""

    effective: int = 4
    pending: int | None = None
    admin_key: str | None = None
    """The key that it was started with; any opens its routes when there is none."""
    asked: list[int] = field(default_factory=list)
    """The sizes that it was asked for."""
    port: int = 0
    routes_missing: bool = False
    """An engine that was not launched to grow has no such routes."""
    resets: int = 0
    """How many of the next requests for a size are accepted and never answered."""
    refuses_with: str | None = None
    """What every growth ends with, at the second token, if any does."""
    last_error: str | None = None
    tokens: int = 0
    """How many were generated since the last request for a size."""

    async def _state(self, request: web.Request) -> web.Response:
        if refused := self._refused(request):
            return refused
        grown = "serving_expanded" if self.effective > 4 else "idle"
        if self.last_error:
            grown = "failed"
        return web.json_response(
            {
                "effective_ep_size": self.effective,
                "pending_ep_size": self.pending,
                "scale_phase": grown if self.pending is None else "waiting_for_cohort",
                "last_error": self.last_error,
            }
        )

    async def _scale(self, request: web.Request) -> web.Response:
        if refused := self._refused(request):
            return refused
        if self.pending is not None:
            return web.json_response({"error": "an operation is pending"}, status=409)
        self.pending, self.last_error = (await request.json())["new_ep_size"], None
        self.asked.append(self.pending)
        self.tokens = 0
        if self.resets:
            self.resets -= 1
            assert request.transport is not None
            request.transport.abort()
        return web.json_response({"message": "accepted"})

    async def _generate(self, _request: web.Request) -> web.Response:
        self.tokens += 1
        if self.refuses_with and self.pending:
            if self.tokens > 1:
                self.pending, self.last_error = None, self.refuses_with
            return web.json_response({"text": "a"})
        self.effective, self.pending = self.pending or self.effective, None
        return web.json_response({"text": "a"})

    def _refused(self, request: web.Request) -> web.Response | None:
        if self.routes_missing:
            return web.json_response({"error": "Not Found"}, status=404)
        wanted = f"Bearer {self.admin_key}"
        if self.admin_key is not None and request.headers.get("Authorization") != wanted:
            return web.json_response({"error": "Unauthorized"}, status=401)
        return None


@asynccontextmanager
async def engine() -> AsyncIterator[EngineStub]:
    """A stub that answers."""
    stub = EngineStub()
    app = web.Application()
    app.router.add_get("/is_scaling_elastic_ep", stub._state)
    app.router.add_post("/scale_elastic_ep", stub._scale)
    app.router.add_post("/generate", stub._generate)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    stub.port = runner.addresses[0][1]
    try:
        yield stub
    finally:
        await runner.cleanup()
