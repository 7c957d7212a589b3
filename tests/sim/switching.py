"""What must hold of a decision about two incarnations, by what the planner knew."""

from __future__ import annotations

from tests.sim.pods import LEARNS_WITHIN
from tests.sim.wellformed import insist

from elasticep.api import names
from elasticep.api.models import GroupSpec
from elasticep.plan.actions import DeletePod, StopTraffic
from elasticep.plan.decision import Plan
from elasticep.plan.template_hash import template_hash
from elasticep.world.engine import CompletionSucceeded, EngineState
from elasticep.world.snapshot import Snapshot


def judge_switch(snapshot: Snapshot) -> None:
    """Traffic goes over to a successor that is proven, whole, and what the spec asks for."""
    spec, heard, move = snapshot.group.spec, snapshot.successor, snapshot.group.status.move
    assert isinstance(spec, GroupSpec)
    assert move is not None
    insist(heard is not None, "nothing goes over to an engine that nobody has heard")
    assert heard is not None
    proven = isinstance(heard.completion, CompletionSucceeded)
    insist(proven, "a completion proves a successor before it takes over")
    engine = heard.engine
    sized = isinstance(engine, EngineState) and engine.effective == spec.ep_size()
    insist(sized, f"a successor takes over at the wanted size, not {engine}")
    pods = [p for p in snapshot.pods if p.incarnation == move.successor.id and not p.terminating]
    current = all(pod.template_hash == template_hash(spec) for pod in pods)
    insist(current and len(pods) >= spec.replicas, f"a successor is whole, not {pods}")


def judge_traffic(snapshot: Snapshot, planned: Plan) -> None:
    """As soon as what is on record serves, an earlier leader gets no traffic any more."""
    spec, record = snapshot.group.spec, planned.status.incarnation
    if not isinstance(spec, GroupSpec) or spec.paused or record is None:
        return
    serving = [pod for pod in snapshot.pods if pod.serving and not pod.terminating]
    if not any(pod.incarnation == record.id and pod.ready for pod in serving):
        return
    left = {a.uid for a in planned.actions if isinstance(a, StopTraffic | DeletePod)}
    others = [p.name for p in serving if p.incarnation != record.id and p.uid not in left]
    insist(not others, f"two incarnations do not go on to serve: {others}")


def judge_lateness(snapshot: Snapshot, planned: Plan) -> None:
    """A leader whose time to answer is over ends, unless nothing else serves."""
    spec = snapshot.group.spec
    if not isinstance(spec, GroupSpec) or spec.paused:
        return
    late = {
        each.id
        for each in planned.status.retiring
        if each.deadline is not None and each.since is not None
        if snapshot.now >= max(each.deadline, each.since + LEARNS_WITHIN)
    }
    ended = {action.uid for action in planned.actions if isinstance(action, DeletePod)}
    for pod in snapshot.pods:
        ends = pod.terminating or pod.serving or pod.uid in ended
        overdue = pod.role == names.LEADER and pod.incarnation in late and not ends
        insist(not overdue, f"{pod.name} has had its time to answer, and ends")
