"""Requests that the API server refuses for long, and groups that cannot be understood.

Each docstring names the public report of another operator that went wrong there.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from tests.reconcile.engine_stub import EngineStub
from tests.reconcile.place import LITE, NAMESPACE, RESYNC, Place

from elasticep.kube.port import (
    EVENTS,
    GROUPS,
    PODS,
    SECRETS,
    SERVICES,
    ConflictError,
    ForbiddenError,
    InvalidError,
)
from elasticep.run.metrics import Metrics
from elasticep.run.queue import BackOff, WorkQueue
from elasticep.run.workers import Workers
from elasticep.world.key import Key

HOUR = timedelta(hours=1)
FOR_EVER = 10**9
BROKEN = Key(namespace=NAMESPACE, name="broken")
QUOTA = ForbiddenError(
    403, "Forbidden", 'pods "p" is forbidden: exceeded quota: gpus, requested: pods=1, used: pods=4'
)
TERMINATING = ForbiddenError(
    403,
    "Forbidden",
    'secrets "s" is forbidden: unable to create new content in namespace team because it is being '
    "terminated",
)


async def test_a_spent_quota_is_told_once_and_asked_about_ever_more_rarely(place: Place) -> None:
    """kuberay#603, kubernetes#47366, #6822, cloudnative-pg#1028."""
    await place.make_group(replicas=2)
    place.refuse("create", PODS, QUOTA, times=FOR_EVER)

    await place.look()
    assert (await place.conditions())["ScaleLimited"] == ("True", "QuotaExceeded")
    assert "exceeded quota: gpus" in await place.message("ScaleLimited")
    await place.live_for(HOUR)

    # 10 s, 20 s, ... 10 min: eleven tries in the first hour, and no end.
    assert 9 <= place.kube.writes["create pods"] <= 12
    assert place.kube.writes["apply elasticepgroups/status"] <= 4 * 12
    assert (await place.conditions())["Stalled"][0] == "False"
    assert (await place.conditions())["ScaleLimited"] == ("True", "QuotaExceeded")
    assert len(await place.events()) <= 2 * 12


async def test_a_quota_that_stops_growth_leaves_the_group_serving(
    place: Place, stub: EngineStub
) -> None:
    """ai-dynamo/dynamo#12428: a size that cannot be had makes the planner stick."""
    await place.make_group()
    await place.look_until_quiet()
    place.refuse("create", PODS, QUOTA, times=2)
    place.kube.change(GROUPS, NAMESPACE, "lite", lambda m: m["spec"].update(replicas=2))

    await place.look()
    assert (await place.conditions())["Available"] == ("True", "Serving")
    assert (await place.conditions())["ScaleLimited"] == ("True", "QuotaExceeded")
    await place.live_for(timedelta(minutes=2))
    await place.look_until_quiet()

    assert (stub.effective, stub.asked) == (6, [6])
    assert (await place.conditions())["ScaleLimited"] == ("False", "SizeReachable")


async def test_a_namespace_that_is_being_deleted_is_left_in_peace(place: Place) -> None:
    """operator-framework/operator-sdk#762."""
    await place.make_group()
    for resource in (SECRETS, PODS, EVENTS):
        place.refuse("create", resource, TERMINATING, times=FOR_EVER)
    place.refuse("apply", SERVICES, TERMINATING, times=FOR_EVER)

    await place.live_for(HOUR)

    assert (await place.conditions())["Ready"] == ("False", "NamespaceTerminating")
    assert place.kube.writes["create secrets"] <= 6 + HOUR / RESYNC
    assert place.kube.writes["create pods"] == 0
    assert place.kube.writes["apply elasticepgroups/status"] <= 2 * 6
    assert place.kube.writes["create events"] <= 2 * 6

    place.kube.remove(GROUPS, NAMESPACE, "lite")
    assert await place.look() is None


async def test_a_pod_that_is_not_well_formed_is_refused_once(place: Place) -> None:
    """controller-runtime#1032, kubernetes#57705: the same bad object again and again."""
    await place.make_group()
    why = 'Pod "p" is invalid: spec.containers[0].resources.limits: Invalid value: "x"'
    place.refuse("create", PODS, InvalidError(422, "Invalid", why), times=FOR_EVER)

    await place.live_for(HOUR)

    assert place.kube.writes["create pods"] == 1
    assert (await place.conditions())["Stalled"] == ("True", "TemplateRejected")
    assert "spec.containers[0].resources.limits" in await place.message("Stalled")


@dataclass(kw_only=True)
class AtWork:
    """Workers that reconcile, and the news that one has ended."""

    place: Place
    workers: Workers = field(init=False)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.workers = Workers(
            queue=WorkQueue(back_off=BackOff(first_seconds=0.01, longest_seconds=0.05)),
            reconcile=self._reconcile,
            ledger=Metrics(),
            clock=asyncio.get_running_loop().time,
        )

    async def _reconcile(self, key: Key) -> timedelta | None:
        try:
            return await self.place.look(key)
        finally:
            self.news.set()

    async def condition(self, name: str, kind: str) -> tuple[str, str]:
        """The condition, once it is there."""
        async with asyncio.timeout(10):
            while kind not in (found := await self.place.conditions(name)):
                self.news.clear()
                await self.news.wait()
        return found[kind]


@asynccontextmanager
async def working(place: Place) -> AsyncIterator[AtWork]:
    at_work = AtWork(place=place)
    task = asyncio.create_task(at_work.workers.run())
    try:
        yield at_work
    finally:
        at_work.workers.stop()
        await task


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"maxEPSize": "many"}, "spec.maxEPSize"),
        ({"leader": "four"}, "spec.leader"),
        ({"rdma": {"resource": "rdma/x", "count": "1x"}}, "spec.rdma.count"),
        ({"template": {"spec": {"volumes": "none"}}}, "spec.template.spec.volumes"),
        ({"engine": {"image": "lmsysorg/sglang:latest"}}, "spec.engine.version"),
        ({"engine": {"image": "a/b:latest", "version": "0.4.1"}}, "spec.engine.version"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_group_that_cannot_be_understood_stops_nobody_else(
    place: Place, spec: dict[str, Any], field: str
) -> None:
    """controller-runtime#1032, #2591, #603, kubernetes#57705, rbg v0.8.0-alpha.4."""
    await place.make_group("broken", **spec)
    await place.make_group("lite")

    async with working(place) as at_work:
        at_work.workers.ring(BROKEN)
        at_work.workers.ring(LITE)
        assert await at_work.condition("lite", "Ready") == ("False", "LeaderStarting")
        assert await at_work.condition("broken", "Stalled") == ("True", "SpecInvalid")

    (words,) = (
        c["message"]
        for c in (await place.read(name="broken"))["status"]["conditions"]
        if c["type"] == "Stalled"
    )
    assert words.startswith(field)
    assert len(await place.pods()) == 1


@pytest.mark.parametrize(
    "spec", [{"containers": None}, {"containers": [{"name": "engine", "volumeMounts": None}]}]
)
async def test_a_list_that_is_null_is_an_empty_one(place: Place, spec: dict[str, Any]) -> None:
    """controller-runtime#2591: what an older schema has let in makes the operator panic."""
    await place.make_group(template={"spec": spec})

    await place.look()

    (pod,) = await place.pods("leader")
    assert [c["name"] for c in pod["spec"]["containers"]] == ["engine"]


async def test_a_group_that_is_mended_starts(place: Place) -> None:
    """rbg v0.8.0-alpha.4: an object of an older type blocks its kind for ever."""
    await place.make_group(maxEPSize="many")
    await place.look()
    assert await place.pods() == []

    place.kube.change(GROUPS, NAMESPACE, "lite", lambda m: m["spec"].update(maxEPSize=8))
    await place.look_until_quiet()

    assert (await place.conditions())["Ready"] == ("True", "AllRanksServing")


async def test_a_conflict_is_no_warning_in_the_log(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    """ai-dynamo/dynamo#14298, java-operator-sdk#1198: logs full of conflicts."""
    await place.make_group()
    place.refuse("apply", GROUPS, ConflictError(409, "Conflict", "modified"), times=3)
    caplog.set_level(logging.INFO, logger="elasticep.run.workers")

    async with working(place) as at_work:
        at_work.workers.ring(LITE)
        await at_work.condition("lite", "Ready")

    levels = [r.levelno for r in caplog.records if r.name == "elasticep.run.workers"]
    assert levels == [logging.INFO] * 3


async def test_groups_that_come_and_go_leave_nothing_behind_in_the_queue(place: Place) -> None:
    """rook#15499, #14051, redpanda#12533, opensearch-k8s-operator#612: memory grows until OOM."""
    keys = [Key(namespace=NAMESPACE, name=f"group-{number}") for number in range(300)]
    for key in keys:
        await place.make_group(key.name)

    async with working(place) as at_work:
        for key in keys:
            at_work.workers.ring(key)
        await at_work.condition(keys[-1].name, "Ready")
        for key in keys:
            place.kube.remove(GROUPS, NAMESPACE, key.name)
            at_work.workers.ring(key)
        queue = at_work.workers.queue
        async with asyncio.timeout(20):
            while queue.depth or queue.active:
                at_work.news.clear()
                await at_work.news.wait()

    assert not queue._later
    assert not queue._failures
    assert not queue._due
