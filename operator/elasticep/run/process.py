"""The operator's process, from its first line of log to its exit code.

It crashes rather than limps: when anything ends that should go on for ever (a watch, the Lease,
the resync), the process ends too, and the kubelet starts another, which finds everything it
needs in the cluster.
"""

import asyncio
import logging
import os
import random
import signal
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime

import aiohttp
from prometheus_client import disable_created_metrics

from elasticep.apply.executor import Executor
from elasticep.apply.reporter import Reporter
from elasticep.kube.client import KubeClient
from elasticep.kube.lease import Lease, LeaseLostError, Unopposed
from elasticep.kube.port import GROUPS, ForbiddenError, Kube, KubeError, NotFoundError
from elasticep.observe.engines import EngineListener
from elasticep.observe.observer import Observer
from elasticep.run import doorbell, health, logs
from elasticep.run.duty import Duty, DutyEndedError
from elasticep.run.groups import GroupBook
from elasticep.run.metered import MeteredKube
from elasticep.run.metrics import Metrics
from elasticep.run.queue import BackOff, WorkQueue
from elasticep.run.reconcile import Reconciler
from elasticep.run.resync import Resync
from elasticep.run.settings import Settings, read_settings
from elasticep.run.workers import Workers
from elasticep.world.key import Key

_LOG = logging.getLogger(__name__)

_STUCK_SECONDS = 600.0
"""Every request of a reconcile has a time limit; all of them together stay far below this."""

_RESYNCS_MISSED = 3


class CannotStartError(Exception):
    """The cluster is not one in which this process can work; the message says what to do."""


def main(arguments: Sequence[str]) -> int:
    """Look after groups until told to stop.

    Returns:
        The exit code: 0 when a signal ended the process, 1 when anything else did.
    """
    settings = read_settings(arguments, os.environ)
    logs.set_up(level=settings.log_level)
    # Otherwise each counter is accompanied by a series that says when it was made.
    disable_created_metrics()  # type: ignore[no-untyped-call]
    try:
        asyncio.run(_operate(settings))
    except (CannotStartError, LeaseLostError, DutyEndedError, KubeError, OSError) as error:
        _LOG.error("stopped: %s", error)
    except Exception:
        _LOG.exception("stopped")
    else:
        _LOG.info("stopped, as asked")
        return 0
    return 1


async def _operate(settings: Settings) -> None:
    stop = asyncio.Event()
    listen_for_stop = _signals_set(stop)
    listen_for_stop()
    metrics = Metrics()
    async with AsyncExitStack() as stack:
        kube = MeteredKube(kube=await KubeClient.connect(), count=metrics.request_answered)
        stack.push_async_callback(kube.close)
        session = await stack.enter_async_context(aiohttp.ClientSession())
        lease = _lease(settings, kube)
        book = GroupBook(metrics=metrics, now=_now)
        workers = _workers(settings, kube, session, metrics)
        resync = _resync(settings, kube, workers, book)
        await _answer_probes(stack, settings, metrics, workers, resync)
        await _require_groups(kube, settings.namespaces)
        if not await _acquired(lease, stop):
            return
        metrics.leader.set(1)
        handlers = doorbell.handlers(ring=workers.ring, book=book)
        duty = Duty(
            lease=lease,
            workers=workers,
            resync=resync,
            watching=lambda: doorbell.watching(handlers=handlers, namespaces=settings.namespaces),
            listen_for_stop=listen_for_stop,
        )
        await duty.fulfil(stop)


def _signals_set(stop: asyncio.Event) -> Callable[[], None]:
    loop = asyncio.get_running_loop()

    def listen() -> None:
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(each, stop.set)

    return listen


def _lease(settings: Settings, kube: Kube) -> Lease | Unopposed:
    if not settings.leader_election:
        return Unopposed()
    return Lease(
        kube=kube,
        namespace=settings.lease_namespace,
        name=settings.lease_name,
        identity=settings.identity,
        now=_now,
    )


def _workers(
    settings: Settings, kube: Kube, session: aiohttp.ClientSession, metrics: Metrics
) -> Workers:
    clock = asyncio.get_running_loop().time
    queue: WorkQueue[Key] = WorkQueue(back_off=BackOff(spread=_spread))
    metrics.watch_queue(queue, clock=clock)
    reconciler = Reconciler(
        observer=Observer(
            kube=kube,
            engines=EngineListener(session=session, count_nudge=metrics.nudged),
            now=_now,
        ),
        executor=Executor(kube=kube, count_pod=metrics.pod_created),
        reporter=Reporter(kube=kube, instance=settings.identity, now=_now),
    )
    return Workers(
        queue=queue,
        reconcile=reconciler.reconcile,
        ledger=metrics,
        clock=clock,
        limit=settings.workers,
    )


def _resync(settings: Settings, kube: Kube, workers: Workers, book: GroupBook) -> Resync:
    return Resync(
        kube=kube,
        namespaces=settings.namespaces,
        ring=workers.ring,
        book=book,
        clock=asyncio.get_running_loop().time,
        spread=_spread,
        every_seconds=settings.resync_seconds,
    )


async def _answer_probes(
    stack: AsyncExitStack, settings: Settings, metrics: Metrics, workers: Workers, resync: Resync
) -> None:
    clock = asyncio.get_running_loop().time
    heartbeat = health.Heartbeat(clock=clock, report=metrics.event_loop_lag.set)
    beating = asyncio.create_task(heartbeat.run())
    stack.callback(beating.cancel)
    checks = (
        heartbeat.problem,
        health.too_long_ago(
            "the groups were last listed",
            last=lambda: resync.last_success,
            clock=clock,
            limit=_RESYNCS_MISSED * settings.resync_seconds,
        ),
        health.too_long(
            "a reconcile is in progress",
            age=lambda: workers.queue.longest_running_seconds(now=clock()),
            limit=_STUCK_SECONDS,
        ),
    )
    app = health.application(checks=checks, registry=metrics.registry)
    ports = {settings.health_port, settings.metrics_port}
    await stack.enter_async_context(health.serving(app, host=settings.host, ports=ports))


async def _require_groups(kube: Kube, namespaces: Sequence[str]) -> None:
    kind = f"{GROUPS.plural}.{GROUPS.group}/{GROUPS.version}"
    try:
        for namespace in namespaces or (None,):
            await kube.list(GROUPS, namespace=namespace)
    except NotFoundError as error:
        raise CannotStartError(
            f"the API server does not serve {kind}: install the CRD first, with "
            "`kubectl apply --server-side -f crds/`"
        ) from error
    except ForbiddenError as error:
        raise CannotStartError(
            f"{error.message}: grant the permissions of deploy/kustomize/base, or name the "
            "namespaces that are permitted with --namespace"
        ) from error


async def _acquired(lease: Lease | Unopposed, stop: asyncio.Event) -> bool:
    """Whether the Lease is ours; it is not when a stop came first."""
    acquiring = asyncio.create_task(lease.acquire())
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({acquiring, stopping}, return_when=asyncio.FIRST_COMPLETED)
    for task in (acquiring, stopping):
        task.cancel()
    await asyncio.gather(acquiring, stopping, return_exceptions=True)
    if acquiring.cancelled():
        return False
    acquiring.result()
    return True


def _now() -> datetime:
    return datetime.now(tz=UTC)


def _spread() -> float:
    return random.SystemRandom().uniform(0.9, 1.1)
