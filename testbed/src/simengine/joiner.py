"""A joiner's life: dial the leader, load, register, wait to be admitted, serve under the leader."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Coroutine
from typing import NoReturn

from aiohttp import web

from simengine.arguments import EngineArguments
from simengine.fault_plan import FaultPlan
from simengine.faults import FAULTS
from simengine.joiner_routes import JoinerRoutes
from simengine.process import die_like_the_engine, hang, reach, seconds_since_start
from simengine.server import listen
from simengine.settings import Settings
from simengine.wire import Channel, Message

logger = logging.getLogger(__name__)

REDIAL_SECONDS = 0.2
NO_LEADER = "RuntimeError: Failed to receive worker ports from node 0 within timeout"
LEADER_LOST = (
    "torch.distributed.DistNetworkError: Failed to recv, got 0 bytes. Connection was likely "
    "closed. Did the remote server shutdown or crash?"
)
NOT_ADMITTED = (
    "torch.distributed.DistStoreError: wait timeout after {milliseconds}ms, "
    "keys: /default_pg/0//extension_state_{rank}"
)


class Joiner:
    """One process that brings ranks into a running group."""

    def __init__(self, *, arguments: EngineArguments, settings: Settings, plan: FaultPlan) -> None:
        self._arguments = arguments
        self._settings = settings
        self._plan = plan
        self._inbox: asyncio.Queue[Message] = asyncio.Queue()
        self._routes = JoinerRoutes(arguments)
        self._retired = False
        self._serving = False
        self._late: asyncio.Task[None] | None = None

    async def run(self) -> NoReturn:
        """Live until the leader's life ends; never returns."""
        await reach("start", self._plan)
        channel = await self._dial()
        await channel.send(
            "hello",
            offset=self._arguments.ep_join_rank_offset,
            ranks=self._arguments.tp_size,
            mode=self._arguments.ep_join_mode,
            host=socket.gethostname(),
        )
        await _until_either(self._listen(channel), self._live(channel))
        if self._retired:
            hang()
        await reach("leader_lost", self._plan)
        die_like_the_engine(LEADER_LOST)

    async def _dial(self) -> Channel:
        leader = self._arguments.rendezvous
        if leader is None:
            die_like_the_engine("ValueError: Missing port in address: --dist-init-addr is not set")
        logger.info(
            "Connecting to node 0 at %s:%d to receive worker ports", leader.host, leader.port
        )
        deadline = time.monotonic() + self._settings.dial_seconds
        while True:
            try:
                return Channel(*await asyncio.open_connection(leader.host, leader.port))
            except socket.gaierror:
                die_like_the_engine(f"ValueError: Cannot resolve host: {leader.host}")
            except OSError:
                if time.monotonic() > deadline:
                    die_like_the_engine(NO_LEADER)
                await asyncio.sleep(REDIAL_SECONDS)

    async def _listen(self, channel: Channel) -> None:
        while (message := await channel.receive()) is not None:
            match message:
                case {"kind": "ping"}:
                    await channel.send("pong")
                case {"kind": "faults", "faults": list(faults)}:
                    self._plan.add(FAULTS.validate_python(faults))
                    if self._serving:
                        self._late = asyncio.create_task(reach("serving", self._plan))
                case {"kind": "load", "ranks": dict(load)}:
                    self._routes.load = load
                case {"kind": "retired"}:
                    self._retired = True
                    logger.info("retired; awaiting external termination")
                case _:
                    self._inbox.put_nowait(message)

    async def _expect(self, kind: str) -> Message:
        while (message := await self._inbox.get())["kind"] != kind:
            logger.warning("[sim] unexpected message: %s", message)
        return message

    async def _live(self, channel: Channel) -> None:
        welcome = await self._expect("welcome")
        self._learn(welcome)
        await reach("rendezvous", self._plan)
        await self._load()
        await reach("register", self._plan)
        await channel.send("register", load_seconds=seconds_since_start())
        await self._be_admitted(channel)
        await self._serve()

    def _learn(self, welcome: Message) -> None:
        """Take on what the leader knows: how often this offset was tried, and new faults."""
        self._plan.add(FAULTS.validate_python(welcome["faults"]))
        attempt = {"attempt": welcome["attempt"]}
        self._plan.who = self._plan.who.model_copy(update=attempt)
        self._settings = self._settings.model_copy(update=self._plan.timing)

    async def _load(self) -> None:
        logger.info("Load weight begin. model=%s", self._arguments.model_name)
        await asyncio.sleep(self._settings.load_seconds / 2)
        await reach("load", self._plan)
        await asyncio.sleep(self._settings.load_seconds / 2)
        logger.info("Load weight end. elapsed=%.2f s", self._settings.load_seconds)

    async def _be_admitted(self, channel: Channel) -> None:
        offset, target = self._arguments.ep_join_rank_offset, self._arguments.join_target
        logger.info("[Elastic EP] registered: rank_offset=%d target_ep_size=%d", offset, target)
        await asyncio.sleep(self._settings.connect_seconds)
        await channel.send("connected", connect_seconds=float(self._settings.connect_seconds))
        patience = self._settings.admission_seconds
        try:
            async with asyncio.timeout(patience):
                await self._expect("admit")
        except TimeoutError:
            text = NOT_ADMITTED.format(milliseconds=round(patience * 1000), rank=offset)
            die_like_the_engine(text)
        await reach("join", self._plan)
        await asyncio.sleep(self._settings.join_seconds)
        await channel.send("synced")
        await self._expect("serving")
        logger.info("[Elastic EP] joined: target_ep_size=%d", target)

    async def _serve(self) -> None:
        application: web.Application = self._routes.application()
        await listen(application, host=self._arguments.host, port=self._arguments.port)
        self._serving = True
        await reach("serving", self._plan)
        await asyncio.Event().wait()


async def _until_either(*lives: Coroutine[object, object, None]) -> None:
    """Run until the first one ends; an error in any of them is raised."""
    tasks = [asyncio.create_task(life) for life in lives]
    done, others = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for other in others:
        other.cancel()
    for task in done:
        task.result()
