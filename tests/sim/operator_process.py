"""The operator's process: one reconcile after the other, which may stop between any two effects.

The order of reads and writes is that of ``elasticep.run.reconcile``, ``observe`` and ``apply``.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from tests.sim.api_server import ApiServer
from tests.sim.control import Client, Trouble
from tests.sim.hearing import Ear
from tests.sim.kubelet import Nodes
from tests.sim.laws import Laws

from elasticep.api.reasons import Progress
from elasticep.apply.refusals import refused_by_api_server
from elasticep.kube.port import (
    AlreadyExistsError,
    ForbiddenError,
    KubeError,
    UnavailableError,
)
from elasticep.plan.actions import (
    Action,
    ApplyObject,
    CreateAdminKey,
    CreatePod,
    DeleteObject,
    DeletePod,
    RequestScale,
    SendTraffic,
    StopTraffic,
)
from elasticep.plan.decision import Plan
from elasticep.world.engine import EngineUnknown
from elasticep.world.snapshot import Group, Refusal, Snapshot

Round = Generator[str, Trouble, timedelta | None]

FIRST_RETRY = timedelta(milliseconds=250)
LONGEST_RETRY = timedelta(minutes=2)


@dataclass(eq=False, kw_only=True)
class Operator:
    """Remembers nothing but the round that it is in and when to look again."""

    api: ApiServer
    nodes: Nodes
    laws: Laws
    round: Round | None = None
    began_at: datetime = field(init=False)
    next_look: datetime | None = field(init=False)
    seen_revision: int = 0
    failures: int = 0
    announced: str = ""
    """What the next step does."""
    effects: int = 0
    """Status writes and actions, those included that changed nothing."""

    def __post_init__(self) -> None:
        """A process that starts looks at every group."""
        self.began_at = self.next_look = self.api.now

    @property
    def due(self) -> bool:
        """Whether a round is to begin: something has changed, or it is time."""
        rung = self.seen_revision != self.api.revision
        timely = self.next_look is not None and self.next_look <= self.api.now
        return self.round is None and (rung or timely)

    def step(self, trouble: Trouble = Trouble.NONE) -> str:
        """One read or one effect; begins a round when none is on the way."""
        if self.round is None:
            self.began_at, self.seen_revision = self.api.now, self.api.revision
            self.next_look = None
            self.round = self._reconcile()
            self.announced = next(self.round)
        doing = self.announced
        try:
            self.announced = self.round.send(trouble)
        except StopIteration as end:
            self.round, self.failures = None, 0
            self.next_look = None if end.value is None else self.api.now + end.value
            return f"{doing}; rests, and looks again in {end.value}"
        except KubeError as error:
            self.round = None
            self.failures += 1
            wait = min(FIRST_RETRY * (1 << min(self.failures - 1, 16)), LONGEST_RETRY)
            self.next_look = self.api.now + wait
            return f"{doing}: {error}; tries again in {wait}"
        return doing

    def finish_round(self) -> None:
        """A whole round, or what is left of it, without trouble."""
        self.step()
        while self.round is not None:
            self.step()

    def is_killed(self) -> None:
        """All that it was about to do is forgotten; its successor looks at once."""
        self.round, self.failures, self.next_look = None, 0, self.api.now

    def _reconcile(self) -> Round:
        _delivered((yield "reads the group"))
        group = self.api.read_group()
        _delivered((yield "reads the pods"))
        snapshot = Snapshot(
            group=group,
            pods=tuple(pod.seen() for pod in self.nodes.pods()),
            now=self.api.now,
            engine=EngineUnknown(reason=Progress.LEADER_STARTING, message="not running yet"),
            surroundings=self.api.read_surroundings(),
            admin_key_secret=self.api.read_admin_key(),
        )
        ear = Ear(nodes=self.nodes)
        snapshot = yield from ear.hear(snapshot)
        planned = self.laws.think(snapshot)
        group = yield from self._report(snapshot, planned)
        for action in planned.actions:
            trouble = yield _said(action)
            self.effects += 1
            refusal = self._carry_out(action, snapshot, ear.engines, trouble)
            if refusal is not None:
                self.laws.refused()
                snapshot = replace(snapshot, group=group, refusals=(refusal,))
                planned = self.laws.think(snapshot)
                yield from self._report(snapshot, planned)
                break
        return planned.look_again

    def _report(self, snapshot: Snapshot, planned: Plan) -> Generator[str, Trouble, Group]:
        group = snapshot.group
        if planned.status == group.status:
            return group
        trouble = yield "writes the status: " + _summary(planned)
        _delivered(trouble)
        self.effects += 1
        version = self.api.write_status(planned.status, version=group.resource_version)
        self.laws.recorded(snapshot, self.api.status)
        _answered(trouble)
        return replace(group, status=self.api.status, resource_version=version)

    def _carry_out(
        self,
        action: Action,
        snapshot: Snapshot,
        engines: Mapping[str, Client],
        trouble: Trouble,
    ) -> Refusal | None:
        if isinstance(action, RequestScale):
            client = engines[action.leader_uid]
            self.laws.may_request(action, client.address)
            return client.request_scale(action.target, trouble)
        _delivered(trouble)
        try:
            self._write(action, snapshot)
        except AlreadyExistsError:
            pass
        except ForbiddenError as error:
            assert isinstance(action, CreatePod | CreateAdminKey)
            return refused_by_api_server(action.manifest, error)
        _answered(trouble)
        return None

    def _write(self, action: Action, snapshot: Snapshot) -> None:
        match action:
            case CreatePod(manifest=manifest):
                self.laws.may_create(manifest, snapshot)
                self.api.create_pod(manifest)
            case DeletePod(name=name, uid=uid):
                pod = self.api.pods.get(name)
                if pod is not None and pod.uid == uid:
                    self.laws.may_delete(pod)
                    self.api.delete_pod(pod)
            case SendTraffic() | StopTraffic():
                self._label(action, snapshot)
            case ApplyObject(manifest=manifest):
                self.api.apply(manifest)
            case DeleteObject(kind=kind, uid=uid):
                self.api.delete(kind, uid=uid)
            case CreateAdminKey():
                self.api.create_admin_key()

    def _label(self, action: SendTraffic | StopTraffic, snapshot: Snapshot) -> None:
        pod = self.api.pods.get(action.pod)
        if pod is None or pod.uid != action.uid:
            return
        if isinstance(action, SendTraffic):
            self.laws.may_send(pod)
        else:
            self.laws.may_stop(pod, snapshot)
        self.api.label(pod, serving=isinstance(action, SendTraffic))


def _delivered(trouble: Trouble) -> None:
    if trouble is Trouble.NOT_DELIVERED:
        raise UnavailableError(0, "Unavailable", "the request did not arrive")


def _answered(trouble: Trouble) -> None:
    if trouble is Trouble.ANSWER_LOST:
        raise UnavailableError(0, "Unavailable", "no answer")


def _said(action: Action) -> str:
    match action:
        case CreatePod(manifest=manifest):
            return f"makes pod {manifest['metadata']['name']}: {action.why}"
        case DeletePod(name=name):
            return f"deletes pod {name}: {action.why[:120]}"
        case RequestScale(target=target):
            return f"asks the engine for {target} ranks"
        case SendTraffic(pod=pod):
            return f"sends traffic to {pod}"
        case StopTraffic(pod=pod):
            return f"takes the traffic from {pod}"
        case _:
            return type(action).__name__


def _summary(planned: Plan) -> str:
    true = [c.type for c in planned.status.conditions if c.status.value == "True"]
    ready = next((c for c in planned.status.conditions if c.type == "Ready"), None)
    operation = planned.status.operation
    running = f", {operation.from_}→{operation.to} {operation.phase}" if operation else ""
    move = planned.status.move
    coming = f", {move.kind} to {move.successor.id}" if move else ""
    ending = "".join(f", {each.id} ends ({each.kind})" for each in planned.status.retiring)
    return f"{ready.reason if ready else '-'} ({', '.join(true)}){running}{coming}{ending}"
