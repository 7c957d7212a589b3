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

    async def _state(self, request: web.Request) -> web.Response:
        if not self._opens(request):
            return web.json_response({"error": "Unauthorized"}, status=401)
        grown = "serving_expanded" if self.effective > 4 else "idle"
        return web.json_response(
            {
                "effective_ep_size": self.effective,
                "pending_ep_size": self.pending,
                "scale_phase": grown if self.pending is None else "waiting_for_cohort",
                "last_error": None,
            }
        )

    async def _scale(self, request: web.Request) -> web.Response:
        if not self._opens(request):
            return web.json_response({"error": "Unauthorized"}, status=401)
        self.pending = (await request.json())["new_ep_size"]
        self.asked.append(self.pending)
        return web.json_response({"message": "accepted"})

    async def _generate(self, _request: web.Request) -> web.Response:
        self.effective, self.pending = self.pending or self.effective, None
        return web.json_response({"text": "a"})

    def _opens(self, request: web.Request) -> bool:
        wanted = f"Bearer {self.admin_key}"
        return self.admin_key is None or request.headers.get("Authorization") == wanted


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
