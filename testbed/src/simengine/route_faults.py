"""Faults on the leader's routes: slow, wrong or missing answers."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus

from aiohttp import web
from aiohttp.typedefs import Middleware

from simengine.fault_plan import FaultPlan
from simengine.faults import AnswerWith, Reset, Route

ROUTES: dict[str, Route] = {
    "/scale_elastic_ep": "scale",
    "/is_scaling_elastic_ep": "status",
    "/health": "health",
    "/health_generate": "health",
    "/generate": "completions",
    "/v1/completions": "completions",
    "/metrics": "metrics",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

logger = logging.getLogger(__name__)


def with_route_faults(plan: FaultPlan) -> Middleware:
    """A middleware that lets the plan's faults strike."""

    @web.middleware
    async def strike(request: web.Request, handler: Handler) -> web.StreamResponse:
        route = ROUTES.get(request.path)
        if route is None:
            return await handler(request)
        await asyncio.sleep(plan.delay_of(route))
        answer = plan.on_route(route, AnswerWith)
        if answer is not None:
            logger.warning("[sim] answering %s with %d", request.path, answer.status)
            return _instead(answer)
        reset = plan.on_route(route, Reset)
        if reset is None:
            return await handler(request)
        if reset.accept:
            await handler(request)
        logger.warning("[sim] resetting %s, accepted: %s", request.path, reset.accept)
        return _hang_up(request)

    return strike


def _instead(answer: AnswerWith) -> web.Response:
    if isinstance(answer.body, str):
        return web.Response(text=answer.body, status=answer.status)
    body = answer.body or {"error": HTTPStatus(answer.status).phrase}
    return web.Response(
        text=json.dumps(body), status=answer.status, content_type="application/json"
    )


def _hang_up(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
