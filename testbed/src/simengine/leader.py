"""A leader's life: load, listen for joiners, serve, and grow by one forward pass at a time."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Coroutine, Iterable

from simengine.active_requests import ActiveRequests
from simengine.arguments import EngineArguments
from simengine.batching import Batcher, WorldBrokenError
from simengine.control_routes import ControlRoutes
from simengine.fault_plan import FaultPlan
from simengine.faults import Crash, Fault, Hang, LoseRank, NativeShrink
from simengine.health import Health, ServerStatus
from simengine.leader_routes import LeaderRoutes
from simengine.operations import OperationLog
from simengine.process import die_like_the_engine, reach
from simengine.rendezvous import Rendezvous
from simengine.scale_protocol import Admission, Answer, Happened, Shape
from simengine.server import listen
from simengine.settings import Settings
from simengine.shutdown import Shutdown
from simengine.state_machine import ElasticGroup

logger = logging.getLogger(__name__)

WARM_UP_TOKENS = 8
ADDRESS_NOT_OURS = (
    "torch.distributed.DistNetworkError: The server socket has failed to listen on any local "
    "network address. {error}"
)


class Leader:
    """The process that owns the group, its API and every client's connection."""

    def __init__(self, *, arguments: EngineArguments, settings: Settings, plan: FaultPlan) -> None:
        self.arguments = arguments
        self.settings = settings
        self.plan = plan
        self.operations = OperationLog(clock=time.time)
        self.group = ElasticGroup(
            shape=Shape(
                launch_size=arguments.tp_size,
                max_size=arguments.max_ep_size or arguments.tp_size,
                scale_timeout=arguments.elastic_ep_scale_timeout,
            ),
            native_shrink=plan.native_shrink,
        )
        self.rendezvous = Rendezvous(
            group=self.group,
            operations=self.operations,
            heartbeat_seconds=settings.heartbeat_seconds,
            faults_for_joiners=lambda: plan.added,
        )
        self.batcher = Batcher(
            token_seconds=lambda: self._setting("token_seconds"),
            max_running=settings.max_running_requests,
            after_pass=self._after_pass,
        )
        self.health = Health(batcher=self.batcher, settings=settings)
        self.requests = ActiveRequests()
        self.shutdown = Shutdown(
            batcher=self.batcher, health=self.health, requests=self.requests, settings=settings
        )
        self._tasks: set[asyncio.Task[None]] = set()

    def _setting(self, name: str) -> float:
        return float(self.plan.timing.get(name, getattr(self.settings, name)))

    async def run(self) -> int:
        """Serve until SIGTERM; returns the exit code."""
        await reach("start", self.plan)
        await self._meet()
        await self._load()
        self._spawn(self.batcher.run())
        self._spawn(self._report_load())
        await self._open_the_api()
        self.shutdown.watch()
        await self._warm_up()
        for fault in self.plan.ranks_to_lose:
            self.lose_rank(fault)
        self._spawn(reach("serving", self.plan))
        await self.shutdown.finished()
        return 0

    def _spawn(self, life: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(life)
        self._tasks.add(task)
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            die_like_the_engine("".join(traceback.format_exception(error)))

    async def _meet(self) -> None:
        address = self.arguments.rendezvous
        if address is None or self.arguments.elastic_ep_backend is None:
            return
        try:
            await self.rendezvous.serve(host=address.host, port=address.port)
        except OSError as error:
            die_like_the_engine(ADDRESS_NOT_OURS.format(error=error))
        logger.info("TCPStore listening on %s:%d", address.host, address.port)

    async def _load(self) -> None:
        seconds = self._setting("load_seconds")
        logger.info("Load weight begin. model=%s", self.arguments.model_name)
        await asyncio.sleep(seconds / 2)
        await reach("load", self.plan)
        await asyncio.sleep(seconds / 2)
        logger.info("Load weight end. elapsed=%.2f s", seconds)

    async def _open_the_api(self) -> None:
        routes = LeaderRoutes(self)
        application = routes.application()
        ControlRoutes(self).add_to(application)
        await listen(application, host=self.arguments.host, port=self.arguments.port)

    async def _warm_up(self) -> None:
        request = self.batcher.submit(max_tokens=WARM_UP_TOKENS, ranks=self.group.effective)
        async for _ in request.tokens():
            pass
        self.health.status = ServerStatus.UP
        logger.info("The server is fired up and ready to roll!")

    def request_scale(self, target: int) -> Answer:
        """Ask the group for another size, and keep a record of the answer."""
        old = self.group.effective
        answer = self.group.request_scale(target, now=time.monotonic())
        self.operations.request(old=old, target=target, accepted=answer.accepted)
        logger.info("[Elastic EP] scale %d -> %d: %s", old, target, answer.body)
        return answer

    def take_up(self, faults: Iterable[Fault]) -> None:
        """Let faults that are switched on while we serve strike at once."""
        self.plan.add(faults)
        for fault in faults:
            match fault:
                case LoseRank():
                    self.lose_rank(fault)
                case NativeShrink():
                    self.group.native_shrink = self.plan.native_shrink
                case Crash(stage="serving") | Hang(stage="serving"):
                    self._spawn(reach("serving", self.plan))

    def forget_faults(self) -> None:
        """Be again as the pod's template says; what has happened has happened."""
        self.plan.clear()
        self.group.native_shrink = self.plan.native_shrink

    def lose_rank(self, fault: LoseRank) -> None:
        """Let a rank stop answering, now or a little later."""

        async def lose() -> None:
            await asyncio.sleep(fault.after_seconds)
            logger.error("[sim] rank %d stops answering", fault.rank)
            self.group.ranks_gone([fault.rank])

        self._spawn(lose())

    async def _after_pass(self) -> WorldBrokenError | None:
        """Take the step that this forward pass allows."""
        step = self.group.forward_pass(now=time.monotonic(), busy_ranks=self.batcher.busy_ranks)
        match step:
            case Admission():
                await self._admit(step)
            case Happened():
                await self._conclude(step)
        return await self._brokenness()

    async def _report_load(self) -> None:
        while True:
            await self.batcher.load_changed.wait()
            self.batcher.load_changed.clear()
            await self.rendezvous.show_load(self.batcher.load_of)

    async def _admit(self, admission: Admission) -> None:
        ranks = range(admission.offset, admission.target)
        logger.info("[Elastic EP] admitting ranks %s", list(ranks))
        await reach("join", self.plan)
        began = time.monotonic()
        await self.rendezvous.admit(ranks)
        self.group.mark_syncing()
        happened = self.group.commit(admission)
        self.operations.complete(finalize_seconds=time.monotonic() - began)
        logger.info("[Elastic EP] %s", happened.message)
        await self.rendezvous.announce(ranks, "serving")

    async def _conclude(self, happened: Happened) -> None:
        if happened.error:
            logger.error("[Elastic EP] %s", happened.message)
            self.operations.fail(happened.message)
            return
        logger.info("[Elastic EP] %s", happened.message)
        self.operations.complete()
        if self.group.retirement.parting:
            self._spawn(self._let_go())

    async def _let_go(self) -> None:
        how = self.group.native_shrink
        await asyncio.sleep(how.safe_after_seconds if how else 0)
        released = self.group.retirement.release()
        logger.info("[Elastic EP] safe to terminate: ranks %s", list(released))
        await self.rendezvous.announce(released, "retired")

    async def _brokenness(self) -> WorldBrokenError | None:
        lost = self.group.lost
        if not lost:
            return None
        match self.plan.requests_after_rank_loss:
            case "serve":
                return None
            case "hang":
                logger.error("[sim] forward pass waits for ranks %s for ever", lost)
                await asyncio.Event().wait()
        return WorldBrokenError(f"forward pass failed: ranks {lost} do not answer")
