"""The leader's HTTP API: scaling, completions, health, metrics, in SGLang's shapes."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING

from aiohttp import web

from simengine.access import Keys
from simengine.completion_routes import CompletionRoutes
from simengine.metrics import CONTENT_TYPE, load_snapshot, render
from simengine.route_faults import with_route_faults

if TYPE_CHECKING:
    from simengine.leader import Leader

NOT_ELASTIC = "elastic EP is not enabled (set --elastic-ep-backend)"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class LeaderRoutes:
    """Handlers over one leader; they hold no state of their own."""

    def __init__(self, leader: Leader) -> None:
        self._leader = leader
        self._keys = Keys(api=leader.arguments.api_key, admin=leader.arguments.admin_api_key)

    def application(self) -> web.Application:
        """All routes of the engine's own API."""
        faults = with_route_faults(self._leader.plan)
        count = self._leader.requests.count
        application = web.Application(middlewares=[count, self._authenticate, faults])
        router = application.router
        router.add_post("/scale_elastic_ep", self._scale)
        router.add_get("/is_scaling_elastic_ep", self._status)
        for path in ("/health", "/health_generate"):
            router.add_get(path, self._health)
        for path in ("/server_info", "/get_server_info"):
            router.add_get(path, self._server_info)
        for path in ("/model_info", "/get_model_info"):
            router.add_get(path, self._model_info)
        router.add_get("/v1/models", self._models)
        router.add_get("/v1/loads", self._loads)
        if self._leader.arguments.enable_metrics:
            router.add_get("/metrics", self._metrics)
        CompletionRoutes(self._leader).add_to(router)
        return application

    @web.middleware
    async def _authenticate(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        authorization = request.headers.get("Authorization")
        if self._keys.allow(method=request.method, path=request.path, authorization=authorization):
            return await handler(request)
        return _error("Unauthorized", HTTPStatus.UNAUTHORIZED)

    async def _scale(self, request: web.Request) -> web.Response:
        try:
            body = await request.json()
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            return _error(f"Invalid JSON: {error}", HTTPStatus.BAD_REQUEST)
        if not isinstance(body, dict):
            return _error("request body must be a JSON object", HTTPStatus.BAD_REQUEST)
        target = body.get("new_ep_size")
        if not isinstance(target, int) or isinstance(target, bool) or target <= 0:
            return _error("new_ep_size must be a positive integer", HTTPStatus.BAD_REQUEST)
        if self._leader.arguments.elastic_ep_backend is None:
            return _error(NOT_ELASTIC, HTTPStatus.NOT_FOUND)
        answer = self._leader.request_scale(target)
        return web.json_response(answer.body, status=answer.status)

    async def _status(self, _: web.Request) -> web.Response:
        if self._leader.arguments.elastic_ep_backend is None:
            return _error(NOT_ELASTIC, HTTPStatus.NOT_FOUND)
        body = self._leader.group.status()
        shown = self._leader.plan.shown_phase
        return web.json_response(body | ({"scale_phase": shown} if shown else {}))

    async def _health(self, _: web.Request) -> web.Response:
        healthy = await self._leader.health.check()
        return web.Response(status=HTTPStatus.OK if healthy else HTTPStatus.SERVICE_UNAVAILABLE)

    async def _server_info(self, _: web.Request) -> web.Response:
        secret = {"api_key", "admin_api_key"}
        resolved = self._leader.arguments.model_dump(mode="json", exclude=secret)
        states = [self._leader.group.internal_state()]
        version = self._leader.settings.version
        model = self._leader.arguments.model_name
        live = {"model_path": model, "internal_states": states, "version": version}
        return web.json_response(resolved | live)

    async def _model_info(self, _: web.Request) -> web.Response:
        arguments = self._leader.arguments
        return web.json_response(
            {
                "model_path": arguments.model_name,
                "served_model_name": arguments.model_name,
                "is_generation": True,
            }
        )

    async def _models(self, _: web.Request) -> web.Response:
        name = self._leader.arguments.model_name
        card = {"id": name, "object": "model", "owned_by": "sglang", "root": name}
        return web.json_response({"object": "list", "data": [card]})

    async def _loads(self, _: web.Request) -> web.Response:
        leader = self._leader
        # The front end reads the slots that it made at launch, and never makes more.
        launched = range(leader.group.shape.launch_size)
        body = {
            "timestamp": datetime.now(UTC).isoformat(),
            "version": leader.settings.version,
            "accelerator": None,
            "num_accelerators": 1,
            "loads": [load_snapshot(rank, leader.batcher.load_of(rank)) for rank in launched],
        }
        return web.json_response(body)

    async def _metrics(self, _: web.Request) -> web.Response:
        batcher = self._leader.batcher
        # Ranks of joiners are exported by the joiners' own pods.
        local = range(self._leader.group.shape.launch_size)
        text = render(
            model_name=self._leader.arguments.model_name,
            loads={rank: batcher.load_of(rank) for rank in local},
            totals={"sglang:num_requests_total": batcher.finished.total()},
        )
        text += self._leader.requests.render()
        return web.Response(body=text.encode(), headers={"Content-Type": CONTENT_TYPE})


def _error(text: str, status: HTTPStatus) -> web.Response:
    return web.json_response({"error": text}, status=status)
