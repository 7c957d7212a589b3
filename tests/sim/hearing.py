"""What the operator hears from the engines of a group, one request at a time.

The questions are those of ``elasticep.observe.engines``: the engine on record, the one that is to
take over, and what those that end have still to answer.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace

from tests.sim.control import Client, Trouble
from tests.sim.kubelet import Nodes

from elasticep.api import names
from elasticep.api.models import GroupSpec
from elasticep.api.reasons import Engine
from elasticep.plan.view import View
from elasticep.world.engine import NOT_TRIED, Completion, EngineState, EngineUnknown, Hearing
from elasticep.world.snapshot import Snapshot


@dataclass(eq=False, kw_only=True)
class Ear:
    """Listens for the length of one look."""

    nodes: Nodes
    engines: dict[str, Client] = field(default_factory=dict)
    """Those that can be asked, by the UIDs of their leader pods."""

    def hear(self, snapshot: Snapshot) -> Generator[str, Trouble, Snapshot]:
        """The snapshot with what every engine of the group says."""
        if not isinstance(snapshot.group.spec, GroupSpec):
            return snapshot
        view = View.of(snapshot, snapshot.group.spec)
        heard = yield from self._hear(view)
        if heard is not None:
            snapshot = replace(snapshot, engine=heard.engine, completion=heard.completion)
        if view.memory.move is not None:
            coming = yield from self._hear(view.successor())
            snapshot = replace(snapshot, successor=coming)
        loads = yield from self._loads(view)
        return replace(snapshot, loads=loads)

    def _hear(self, view: View) -> Generator[str, Trouble, Hearing | None]:
        leader, secret = view.leader, view.snapshot.admin_key_secret
        if leader is None or view.life is None or not leader.ip:
            return None
        if secret is None:
            unknown = EngineUnknown(reason=Engine.ADMIN_KEY_MISSING, message="no Secret")
            return Hearing(engine=unknown)
        (key,) = secret.content["data"].values()
        client = Client(nodes=self.nodes, address=leader.ip, admin_key=key)
        self.engines[leader.uid] = client
        return (yield from _ask(client, view))

    def _loads(self, view: View) -> Generator[str, Trouble, dict[str, int]]:
        retiring = {each.id for each in view.memory.retiring}
        loads = {}
        for pod in view.snapshot.pods:
            if pod.role == names.LEADER and pod.incarnation in retiring and pod.ip:
                client = Client(nodes=self.nodes, address=pod.ip, admin_key=0)
                load = client.load((yield f"asks the requests of {pod.name}"))
                if load is not None:
                    loads[pod.incarnation] = load
        return loads


def _ask(client: Client, view: View) -> Generator[str, Trouble, Hearing]:
    """While an operation is on record the leader gets a request before it is asked."""
    operation = view.memory.operation
    if operation is not None:
        client.complete((yield "has a token generated"))
    state = client.state((yield "asks the engine"))
    completion: Completion = NOT_TRIED
    if isinstance(state, EngineState):
        grown = operation is not None and state.effective == operation.to
        whole = view.coming and state.effective == view.desired
        if grown or whole:
            completion = client.complete((yield "has a token generated as proof"))
    return Hearing(engine=state, completion=completion)
