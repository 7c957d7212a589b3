"""What only a simulation has: its own records, and faults switched on while it runs."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from aiohttp import web
from pydantic import ValidationError

from simengine.faults import FAULTS
from simengine.validation import explain

if TYPE_CHECKING:
    from simengine.leader import Leader


class ControlRoutes:
    """The routes under /sim; they want no key, for a simulation has no secrets."""

    def __init__(self, leader: Leader) -> None:
        self._leader = leader

    def add_to(self, application: web.Application) -> None:
        """Add the routes."""
        router = application.router
        router.add_get("/sim/operations", self._operations)
        router.add_get("/sim/state", self._state)
        router.add_get("/sim/faults", self._faults)
        router.add_post("/sim/faults", self._add_faults)
        router.add_delete("/sim/faults", self._clear_faults)

    async def _operations(self, _: web.Request) -> web.Response:
        return web.json_response(self._leader.operations.report())

    async def _state(self, _: web.Request) -> web.Response:
        leader = self._leader
        members = [
            {
                "host": member.hello.host,
                "offset": member.hello.offset,
                "ranks": member.hello.ranks,
                "attempt": member.attempt,
                "registered": member.registered,
            }
            for member in leader.rendezvous.members
        ]
        return web.json_response(
            {
                "forward_passes": leader.batcher.forward_passes,
                "requests": dict(leader.batcher.finished),
                "running": len(leader.batcher.running),
                "queued": len(leader.batcher.queue),
                "lost_ranks": leader.group.lost,
                "retired": leader.group.retirement.report(),
                "registrations": leader.group.registrations,
                "members": members,
                "attempts": dict(leader.rendezvous.attempts),
                "scheduler": leader.group.internal_state(),
            }
        )

    async def _faults(self, _: web.Request) -> web.Response:
        active = tuple(self._leader.plan.active)
        return web.json_response(FAULTS.dump_python(active, mode="json", by_alias=True))

    async def _add_faults(self, request: web.Request) -> web.Response:
        """Switch on a list of faults, in this process and in joiners, present and future."""
        try:
            faults = FAULTS.validate_json(await request.read())
        except ValidationError as error:
            text = explain(error)
            return web.json_response({"error": text}, status=HTTPStatus.BAD_REQUEST)
        self._leader.take_up(faults)
        await self._leader.rendezvous.pass_on(faults)
        return await self._faults(request)

    async def _clear_faults(self, request: web.Request) -> web.Response:
        self._leader.forget_faults()
        return await self._faults(request)
