"""What must hold of a single decision, by what the planner knew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tests.sim.wellformed import insist

from elasticep.api import names
from elasticep.api.models import GroupSpec
from elasticep.plan.actions import DeletePod, RequestScale
from elasticep.plan.decision import Plan
from elasticep.plan.planner import plan
from elasticep.plan.view import View
from elasticep.world.engine import CompletionSucceeded, EngineState
from elasticep.world.snapshot import Snapshot

THOUGHTS = 5
"""How many looks at a world that stands still may each come to something new."""


def judge_joining(snapshot: Snapshot, planned: Plan) -> None:
    """A growth is done when the new size has served a completion, and not before."""
    known, engine = snapshot.group.status.operation, snapshot.engine
    ended = any(isinstance(action, DeletePod) for action in planned.actions)
    if known is None or planned.status.operation is not None or planned.status.failures or ended:
        return
    if isinstance(engine, EngineState) and engine.effective == known.to and not engine.pending:
        probed = snapshot.now > known.deadline and any(pod.ready for pod in snapshot.pods)
        served = probed or isinstance(snapshot.completion, CompletionSucceeded)
        insist(served, f"{known.from_}→{known.to} is proven by a completion")


def judge_request(action: RequestScale, snapshot: Snapshot, planned: Plan) -> None:
    """The engine is asked only when it is idle, and only for what is on record."""
    engine = snapshot.engine
    insist(isinstance(engine, EngineState), "no request goes to an engine that is unknown")
    assert isinstance(engine, EngineState)
    insist(engine.quiet, f"no request goes to an engine at work: {engine}")
    operation = planned.status.operation
    insist(operation is not None and operation.to == action.target, "it is on record")
    insist(action.target > engine.effective, f"{action.target} is more than {engine.effective}")


def judge_joiner(labels: Mapping[str, str], life: str, snapshot: Snapshot) -> None:
    """A joiner is the next one, of the present life, of one template, and wanted."""
    spec, engine = snapshot.group.spec, snapshot.engine
    assert isinstance(spec, GroupSpec)
    insist(isinstance(engine, EngineState), "no joiner is made for an engine that is unknown")
    assert isinstance(engine, EngineState)
    view, offset = View.of(snapshot, spec), int(labels[names.LABEL_OFFSET])
    assert view.leader is not None
    insist(life == view.life, "a joiner is made for the leader's present life")
    insist(offset == engine.effective, f"a joiner is made at {engine.effective}, not {offset}")
    mixed = labels[names.LABEL_TEMPLATE_HASH] != view.leader.template_hash
    insist(not mixed, "one incarnation is never of two templates")
    offsets = [pod.offset for pod in view.joiners]
    insist(all(each < offset for each in offsets), f"{offset} is the next after {offsets}")
    many = 1 + len(offsets) + 1
    wanted = many <= spec.replicas or view.memory.operation is not None
    insist(wanted, f"pod number {many} of {spec.replicas} is not made")


def comes_to_rest(snapshot: Snapshot, planned: Plan) -> None:
    """A world that stands still is thought about a few times at most, and counted once."""
    before = snapshot.group.status.failures
    seen = [planned]
    while not planned.actions and planned.status != snapshot.group.status:
        insist(len(seen) <= THOUGHTS, f"thinking comes to rest: {_ready(seen)}")
        snapshot = replace(snapshot, group=replace(snapshot.group, status=planned.status))
        planned = plan(snapshot)
        seen.append(planned)
    after = planned.status.failures
    if before is not None and after is not None:
        insist(after.count <= before.count + 1, f"one failure is counted once: {_ready(seen)}")


def _ready(plans: list[Plan]) -> list[str]:
    return [f"{c.reason}: {c.message}" for p in plans for c in p.status.conditions[:1]]
