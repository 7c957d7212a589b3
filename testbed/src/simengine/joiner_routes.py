"""What a joiner answers over HTTP: that it is alive, and the load of its own ranks.

SGLang starts this small server on every node but the first (`launch_dummy_health_check_server`);
there is no scale route and no completion on it.
"""

from __future__ import annotations

from aiohttp import web

from simengine.arguments import EngineArguments
from simengine.metrics import CONTENT_TYPE, render


class JoinerRoutes:
    """`load` maps a rank to its running and queued requests, as the leader last said."""

    def __init__(self, arguments: EngineArguments) -> None:
        self._arguments = arguments
        self.load: dict[str, list[int]] = {}

    def application(self) -> web.Application:
        """The routes of a joiner."""
        application = web.Application()
        for path in ("/ping", "/health", "/health_generate"):
            application.router.add_get(path, self._alive)
        if self._arguments.enable_metrics:
            application.router.add_get("/metrics", self._metrics)
        return application

    async def _alive(self, _: web.Request) -> web.Response:
        return web.Response()

    async def _metrics(self, _: web.Request) -> web.Response:
        loads = {int(rank): (running, queued) for rank, (running, queued) in self.load.items()}
        text = render(model_name=self._arguments.model_name, loads=loads)
        return web.Response(body=text.encode(), headers={"Content-Type": CONTENT_TYPE})
