"""A namespace in which the real reconcile runs: an API server in memory, a clock, a kubelet."""

import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
from tests.kube.fake import FakeKube, Fault
from tests.kube.sample_objects import group

from elasticep.api import names
from elasticep.apply.executor import Executor
from elasticep.apply.reporter import Reporter
from elasticep.kube.port import EVENTS, GROUPS, PODS, KubeError, Manifest, Resource
from elasticep.observe.engines import EngineListener
from elasticep.observe.observer import Observer
from elasticep.run.queue import BackOff
from elasticep.run.reconcile import Reconciler
from elasticep.world.key import Key

NAMESPACE = "team"
LITE = Key(namespace=NAMESPACE, name="lite")
NOON = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
HERE = "127.0.0.1"
RESYNC = timedelta(minutes=5)


class WatchedKube(FakeKube):
    """An API server that keeps count of writes, and lets others act in between."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: Counter[str] = Counter()
        """How often each kind was written, as ``apply elasticepgroups/status``."""
        self.meddle: Callable[[], None] | None = None
        """What somebody else does, once, right after the pods were read."""

    async def list(
        self, resource: Resource, *, namespace: str | None = None, labels: str = ""
    ) -> list[dict[str, Any]]:
        found = await super().list(resource, namespace=namespace, labels=labels)
        if resource == PODS and self.meddle is not None:
            meddle, self.meddle = self.meddle, None
            meddle()
        return found

    async def create(self, resource: Resource, manifest: Manifest) -> dict[str, Any]:
        self.writes[f"create {resource.plural}"] += 1
        return await super().create(resource, manifest)

    async def replace(self, resource: Resource, manifest: Manifest) -> dict[str, Any]:
        self.writes[f"replace {resource.plural}"] += 1
        return await super().replace(resource, manifest)

    async def apply(
        self, resource: Resource, manifest: Manifest, *, manager: str, subresource: str = ""
    ) -> dict[str, Any]:
        what = "/".join(filter(None, (resource.plural, subresource)))
        self.writes[f"apply {what}"] += 1
        return await super().apply(resource, manifest, manager=manager, subresource=subresource)

    async def delete(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        *,
        uid: str,
        grace_seconds: int | None = None,
    ) -> None:
        self.writes[f"delete {resource.plural}"] += 1
        await super().delete(resource, namespace, name, uid=uid, grace_seconds=grace_seconds)


@dataclass(kw_only=True)
class Place:
    """One namespace and the operator that looks after it."""

    session: aiohttp.ClientSession
    engine_port: int
    kube: WatchedKube = field(default_factory=WatchedKube)
    now: datetime = NOON

    @property
    def reconciler(self) -> Reconciler:
        """The operator's process, newly started."""
        return Reconciler(
            observer=Observer(
                kube=self.kube,
                engines=EngineListener(session=self.session, count_nudge=lambda: None),
                now=lambda: self.now,
            ),
            executor=Executor(kube=self.kube, count_pod=lambda _role: None),
            reporter=Reporter(kube=self.kube, instance="operator-0", now=lambda: self.now),
        )

    async def make_group(self, name: str = "lite", **spec: Any) -> dict[str, Any]:
        engine = {"image": "lmsysorg/sglang:v0.5.19", "port": self.engine_port}
        manifest = group(NAMESPACE, name, **{"engine": engine, **spec})
        return await self.kube.create(GROUPS, manifest)

    async def look(self, key: Key = LITE) -> timedelta | None:
        """One reconcile."""
        return await self.reconciler.reconcile(key)

    async def look_until_quiet(self, *, limit: int = 60) -> None:
        """Reconciles, with a kubelet that starts what there is, until one writes nothing."""
        for _ in range(limit):
            before = self.kube.writes.copy()
            await self.look()
            if not await self.kubelet_acts() and self.kube.writes == before:
                return
        raise AssertionError("it does not come to rest")

    async def live_for(
        self, span: timedelta, *, each: Callable[[], None] | None = None, kubelet: bool = False
    ) -> None:
        """Reconciles whenever the work queue would, and at every resync, for so long."""
        end, failures, back_off = self.now + span, 0, BackOff()
        while self.now < end:
            try:
                again = await self.look()
                failures = 0
            except KubeError:
                failures += 1
                again = timedelta(seconds=back_off.seconds(failures))
            if each is not None:
                each()
            if kubelet and await self.kubelet_acts():
                again = timedelta()
            self.now += max(
                min(RESYNC if again is None else again, RESYNC), timedelta(milliseconds=10)
            )

    async def pods(self, role: str = "") -> list[dict[str, Any]]:
        found = await FakeKube.list(self.kube, PODS, namespace=NAMESPACE)
        return [p for p in found if role in {"", p["metadata"]["labels"].get(names.LABEL_ROLE)}]

    async def read(self, resource: Resource = GROUPS, name: str = "lite") -> dict[str, Any]:
        return await self.kube.get(resource, NAMESPACE, name)

    async def conditions(self, name: str = "lite") -> dict[str, tuple[str, str]]:
        status = (await self.read(name=name)).get("status", {})
        return {c["type"]: (c["status"], c["reason"]) for c in status.get("conditions", [])}

    async def message(self, kind: str) -> str:
        status = (await self.read())["status"]
        (found,) = (c["message"] for c in status["conditions"] if c["type"] == kind)
        return str(found)

    async def events(self) -> list[dict[str, Any]]:
        return await self.kube.list(EVENTS, namespace=NAMESPACE)

    async def kubelet_acts(self) -> bool:
        """The kubelet runs and ends what waits for it. Tells whether there was something."""
        pods = await self.pods()
        leaving = [pod for pod in pods if "deletionTimestamp" in pod["metadata"]]
        waiting = [p for p in pods if p not in leaving and p["status"]["phase"] != "Running"]
        for pod in leaving:
            self.kube.remove(PODS, NAMESPACE, pod["metadata"]["name"])
        for pod in waiting:
            self.start(pod)
        return bool(leaving or waiting)

    def start(self, pod: dict[str, Any]) -> None:
        """The kubelet runs the pod, and its engine answers."""

        def run(manifest: dict[str, Any]) -> None:
            manifest["spec"]["nodeName"] = "gpu-node-1"
            manifest["status"] = {
                "phase": "Running",
                "podIP": HERE,
                "conditions": [{"type": "Ready", "status": "True"}],
                "containerStatuses": [
                    {
                        "name": names.CONTAINER,
                        "containerID": f"containerd://{manifest['metadata']['uid']}",
                        "ready": True,
                        "restartCount": 0,
                        "state": {"running": {"startedAt": "2026-01-01T12:00:00Z"}},
                    }
                ],
            }

        self.kube.change(PODS, NAMESPACE, pod["metadata"]["name"], run)

    def refuse(self, verb: str, resource: Resource, error: KubeError, *, times: int = 1) -> None:
        """The next requests of this kind are refused."""
        self.kube.faults.append(Fault(verb=verb, resource=resource, error=error, times=times))

    def lose_answer(self, verb: str, resource: Resource, error: KubeError) -> None:
        """The next request of this kind is carried out and its answer is lost."""
        fault = Fault(verb=verb, resource=resource, error=error, done_all_the_same=True)
        self.kube.faults.append(fault)

    def edit(self, resource: Resource, name: str, **metadata: Any) -> None:
        """Somebody writes these metadata."""
        fields = copy.deepcopy(metadata)
        self.kube.change(resource, NAMESPACE, name, lambda m: m["metadata"].update(fields))
