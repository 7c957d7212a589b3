"""What a group's engines say: the one that serves, one that is to take over, those that end."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import aiohttp

from elasticep.api import names
from elasticep.api.reasons import Engine
from elasticep.control.client import EngineClient
from elasticep.plan.pods import admin_key_reference
from elasticep.plan.view import View
from elasticep.world.engine import NOT_TRIED, Completion, EngineState, EngineUnknown, Hearing
from elasticep.world.pods import Pod
from elasticep.world.snapshot import Snapshot

_TRIES = 3
"""One lost packet must not make a serving group look unreachable."""

_BETWEEN_TRIES_SECONDS = 0.2


@dataclass(frozen=True, kw_only=True)
class Observation:
    """The snapshot, and the way to the engines that it speaks of."""

    snapshot: Snapshot
    engines: Mapping[str, EngineClient]
    """Those that can be asked, by the UIDs of their leader pods."""


@dataclass(frozen=True, kw_only=True)
class _Heard:
    """What one engine said, and the way to it."""

    hearing: Hearing | None = None
    client: EngineClient | None = None
    leader_uid: str = ""


@dataclass(frozen=True, kw_only=True)
class EngineListener:
    """Asks the engines of a group, each as much as a decision needs."""

    session: aiohttp.ClientSession
    count_nudge: Callable[[], None]

    async def hear(self, view: View, admin_key: str | None) -> Observation:
        """The snapshot with what every engine of the group says."""
        heard, coming, loads = await asyncio.gather(
            self._hear(view, admin_key),
            self._hear(view.successor(), admin_key) if view.memory.move else _silence(),
            self._loads(view),
        )
        snapshot = replace(view.snapshot, loads=loads, successor=coming.hearing)
        if heard.hearing is not None:
            snapshot = replace(
                snapshot, engine=heard.hearing.engine, completion=heard.hearing.completion
            )
        engines = {each.leader_uid: each.client for each in (heard, coming) if each.client}
        return Observation(snapshot=snapshot, engines=engines)

    async def _hear(self, view: View, admin_key: str | None) -> _Heard:
        leader = view.leader
        if leader is None or view.life is None or not leader.ip:
            return _Heard()
        if admin_key is None:
            name, field = admin_key_reference(view.blueprint)
            message = (
                f"Secret {name} has no key {field!r}: create it, or correct "
                "spec.engine.adminKeySecretRef"
            )
            unknown = EngineUnknown(reason=Engine.ADMIN_KEY_MISSING, message=message)
            return _Heard(hearing=Hearing(engine=unknown))
        client = self._client(leader, admin_key)
        state, completion = await self._ask(client, view)
        hearing = Hearing(engine=state, completion=completion)
        return _Heard(hearing=hearing, client=client, leader_uid=leader.uid)

    async def _loads(self, view: View) -> dict[str, int]:
        """The unanswered requests of the incarnations that are being ended."""
        retiring = {each.id for each in view.memory.retiring}
        leaders = [
            pod
            for pod in view.snapshot.pods
            if pod.role == names.LEADER and pod.incarnation in retiring and pod.ip
        ]
        counts = await asyncio.gather(*(self._client(pod, "").load() for pod in leaders))
        return {
            pod.incarnation: count
            for pod, count in zip(leaders, counts, strict=True)
            if count is not None
        }

    def _client(self, pod: Pod, admin_key: str) -> EngineClient:
        host = f"[{pod.ip}]" if ":" in pod.ip else pod.ip
        url = f"http://{host}:{pod.port}"
        return EngineClient(session=self.session, url=url, admin_key=admin_key)

    async def _ask(
        self, client: EngineClient, view: View
    ) -> tuple[EngineState | EngineUnknown, Completion]:
        """The engine's state, and while something is to be proven a completion.

        Every step of a scale waits for a forward pass of the leader, so an idle leader gets one
        request before it is asked. What counts as proof is a completion after the state that
        shows the new size, never the one before.
        """
        operation = view.memory.operation
        if operation is not None:
            self.count_nudge()
            await client.complete()
        state = await self._patient_state(client, view)
        if not isinstance(state, EngineState):
            return state, NOT_TRIED
        grown = operation is not None and state.effective == operation.to
        whole = view.coming and state.effective == view.desired
        return state, await client.complete() if grown or whole else NOT_TRIED

    async def _patient_state(self, client: EngineClient, view: View) -> EngineState | EngineUnknown:
        tries = _TRIES if view.leader is not None and view.leader.ready else 1
        state = await client.state()
        for _ in range(tries - 1):
            if isinstance(state, EngineState):
                break
            await asyncio.sleep(_BETWEEN_TRIES_SECONDS)
            state = await client.state()
        return state


async def _silence() -> _Heard:
    return _Heard()
