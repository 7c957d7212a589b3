"""What must hold of a single decision, by what the planner knew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tests.sim.wellformed import insist

from elasticep.api import names
from elasticep.api.models import GroupSpec, GroupStatus, OperationStatus, ShrinkStrategy
from elasticep.plan.actions import DeletePod, RequestScale
from elasticep.plan.decision import Plan
from elasticep.plan.planner import plan
from elasticep.plan.view import View
from elasticep.world.engine import CompletionSucceeded, EngineState, Hearing
from elasticep.world.snapshot import Snapshot

THOUGHTS = 5
"""How many looks at a world that stands still may each come to something new."""


def judge_joining(snapshot: Snapshot, planned: Plan) -> None:
    """A new size is reached when it has served a completion, and not before."""
    ended = any(isinstance(action, DeletePod) for action in planned.actions)
    if planned.status.failures or ended:
        return
    after = dict(operations(planned.status))
    for incarnation, known in operations(snapshot.group.status):
        if incarnation in after and known is not None and after[incarnation] is None:
            _judge_end(snapshot, incarnation, known)


def operations(status: GroupStatus) -> Iterator[tuple[str, OperationStatus | None]]:
    """The operation of each incarnation on record."""
    if status.incarnation is not None:
        yield status.incarnation.id, status.operation
    if status.move is not None:
        yield status.move.successor.id, status.move.operation


def _judge_end(snapshot: Snapshot, incarnation: str, known: OperationStatus) -> None:
    heard = heard_of(snapshot, incarnation)
    engine = heard.engine if heard else None
    if isinstance(engine, EngineState) and engine.effective == known.to and not engine.pending:
        ready = [pod for pod in snapshot.pods if pod.ready and pod.incarnation == incarnation]
        probed = snapshot.now > known.deadline and ready
        served = probed or (heard and isinstance(heard.completion, CompletionSucceeded))
        insist(bool(served), f"{known.from_}→{known.to} is proven by a completion")


def heard_of(snapshot: Snapshot, incarnation: str) -> Hearing | None:
    """What the engine of one incarnation said."""
    move = snapshot.group.status.move
    if move is not None and move.successor.id == incarnation:
        return snapshot.successor
    return Hearing(engine=snapshot.engine, completion=snapshot.completion)


def view_of(snapshot: Snapshot, incarnation: str) -> View:
    """One of the two incarnations, as the planner saw it."""
    assert isinstance(snapshot.group.spec, GroupSpec)
    view = View.of(snapshot, snapshot.group.spec)
    move = view.memory.move
    return view.successor() if move is not None and move.successor.id == incarnation else view


def judge_request(action: RequestScale, snapshot: Snapshot, planned: Plan) -> None:
    """An engine is asked only when it is idle, and only for what is on record."""
    pod = next(pod for pod in snapshot.pods if pod.uid == action.leader_uid)
    heard = heard_of(snapshot, pod.incarnation)
    engine = heard.engine if heard else None
    insist(isinstance(engine, EngineState), "no request goes to an engine that is unknown")
    assert isinstance(engine, EngineState)
    insist(engine.quiet, f"no request goes to an engine at work: {engine}")
    operation = dict(operations(planned.status)).get(pod.incarnation)
    insist(operation is not None and operation.to == action.target, "it is on record")
    insist(action.target != engine.effective, f"{action.target} is not what there is")
    if action.target < engine.effective:
        spec = snapshot.group.spec
        assert isinstance(spec, GroupSpec)
        native = spec.scale_down.strategy is ShrinkStrategy.NATIVE
        known = snapshot.group.status.operation
        insist(native or known is not None, "only Native asks an engine to shrink")
        insist(engine.safe_to_terminate is not None, "only one that can is asked to")


def judge_joiner(labels: Mapping[str, str], life: str, snapshot: Snapshot) -> None:
    """A joiner is the next one, of the present life, of one template, and wanted."""
    view, offset = view_of(snapshot, labels[names.LABEL_INCARNATION]), names.LABEL_OFFSET
    engine = view.engine
    insist(isinstance(engine, EngineState), "no joiner is made for an engine that is unknown")
    assert isinstance(engine, EngineState)
    assert view.leader is not None
    container = view.leader.container(names.CONTAINER)
    insist(container is not None and container.running, "a joiner is made for a leader that runs")
    assert container is not None
    present = names.short_hash(view.leader.uid, container.container_id)
    insist(life == present, "a joiner is made for the leader's present life")
    _judge_offset(int(labels[offset]), view, engine)
    mixed = labels[names.LABEL_TEMPLATE_HASH] != view.leader.template_hash
    insist(not mixed, "one incarnation is never of two templates")


def _judge_offset(offset: int, view: View, engine: EngineState) -> None:
    insist(offset == engine.effective, f"a joiner is made at {engine.effective}, not {offset}")
    offsets = [pod.offset for pod in view.joiners]
    insist(all(each < offset for each in offsets), f"{offset} is the next after {offsets}")
    many = 1 + len(offsets) + 1
    wanted = many <= view.spec.replicas or view.memory.operation is not None
    insist(wanted, f"pod number {many} of {view.spec.replicas} is not made")


def comes_to_rest(snapshot: Snapshot, planned: Plan) -> None:
    """A world that stands still is thought about a few times at most, and counted once."""
    before = snapshot.group.status.failures
    seen = [planned]
    while not planned.actions and planned.status != snapshot.group.status:
        insist(len(seen) <= THOUGHTS, f"thinking comes to rest: {_ready(seen)}")
        if _has_moved(snapshot.group.status, planned.status):
            # The engines of another incarnation would be asked before the next thought.
            break
        snapshot = replace(snapshot, group=replace(snapshot.group, status=planned.status))
        planned = plan(snapshot)
        seen.append(planned)
    after = planned.status.failures
    if before is not None and after is not None:
        most = max(before.count, before.interrupted) + 1
        insist(after.count <= most, f"one failure is counted once: {_ready(seen)}")


def _has_moved(old: GroupStatus, new: GroupStatus) -> bool:
    return [each for each, _ in operations(old)] != [each for each, _ in operations(new)]


def _ready(plans: list[Plan]) -> list[str]:
    return [f"{c.reason}: {c.message}" for p in plans for c in p.status.conditions[:1]]
