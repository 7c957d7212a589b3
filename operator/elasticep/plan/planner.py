"""From what is known to the next safe step.

Level-triggered: whatever happened before, and wherever an earlier process died, the same
snapshot gives the same plan. Each question is asked in turn, and the first that has an answer
decides.
"""

from dataclasses import replace

from elasticep.api.reasons import Blocked, Progress, Settled
from elasticep.plan import back_off
from elasticep.plan.actions import DeletePod, SendTraffic
from elasticep.plan.decision import Decision, Plan, Reason
from elasticep.plan.growth import follow_operation, grow
from elasticep.plan.joiners import trim, without_crash_loop
from elasticep.plan.leader import (
    WAITING_POLL,
    adopt,
    await_engine,
    end_overdue,
    ensure_leader,
    stop,
)
from elasticep.plan.name_conflict import name_conflict
from elasticep.plan.recovery import detect_loss
from elasticep.plan.refused import explain_refusal
from elasticep.plan.status import report, report_unreadable
from elasticep.plan.surroundings import surroundings
from elasticep.plan.view import View
from elasticep.world.snapshot import Snapshot, SpecProblem


def plan(snapshot: Snapshot) -> Plan:
    """The next step for one group, and what its status says meanwhile."""
    if snapshot.group.deleting:
        # Every object of the group has it as its owner: the garbage collector ends them.
        return Plan(status=snapshot.group.status)
    if isinstance(snapshot.group.spec, SpecProblem):
        return Plan(status=report_unreadable(snapshot, snapshot.group.spec))
    view = View.of(snapshot, snapshot.group.spec)
    if back_off.is_history(view) and not back_off.holds(view):
        view = view.without_failures()
    decision = _decide(view)
    if view.spec.paused:
        decision = _paused(view, decision)
    return Plan(
        status=report(view, decision), actions=decision.actions, look_again=decision.look_again
    )


def _decide(view: View) -> Decision:
    if conflict := name_conflict(view):
        return conflict
    if refused := explain_refusal(view):
        return refused
    if view.spec.replicas == 0:
        return stop(view)
    decision = _run(adopt(view))
    return replace(
        decision, actions=(*surroundings(view), *_traffic(view, decision), *decision.actions)
    )


def _run(view: View) -> Decision:
    if pending := ensure_leader(view):
        return pending
    if waiting := await_engine(view):
        return without_crash_loop(view, waiting)
    engine = view.engine
    if engine is None:
        message = "await_engine lets nothing pass but an engine that answers"
        raise AssertionError(message)
    if lost := detect_loss(view):
        return lost
    followed = follow_operation(view, engine)
    if isinstance(followed, Decision):
        return followed
    return (
        trim(followed, engine)
        or _hold_changed_template(followed)
        or grow(followed, engine)
        or _rest(followed)
    )


def _rest(view: View) -> Decision:
    """The wanted size, or one that this engine cannot be brought down from."""
    effective = view.engine.effective if view.engine else 0
    if view.leader is not None and not view.leader.ready:
        reason = Reason(
            word=Progress.LEADER_NOT_READY,
            message=f"leader pod {view.leader.name} answers but is not Ready yet",
        )
        waiting = Decision(reason=reason, memory=view.memory, look_again=WAITING_POLL)
        return end_overdue(view) or waiting
    if effective > view.desired:
        reason = Reason(
            word=Blocked.SCALE_DOWN_UNSUPPORTED,
            message=f"the group serves with EP size {effective} and keeps it: a running engine "
            f"cannot give ranks back",
            advice="Set spec.replicas back, or delete its leader pod to start again with EP size "
            f"{view.desired}; requests in flight are lost.",
        )
        return Decision(reason=reason, memory=view.memory, limit=reason, stalled=True)
    reason = Reason(word=Settled.ALL_RANKS_SERVING, message=f"serving with EP size {effective}")
    return Decision(reason=reason, memory=view.memory, resting=True)


def _hold_changed_template(view: View) -> Decision | None:
    """A group that serves keeps its template: one incarnation is never mixed."""
    leader = view.leader
    if leader is None or view.template_is_current:
        return None
    reason = Reason(
        word=Blocked.TEMPLATE_CHANGED,
        message="the serving pods were made from an older spec and are kept",
        advice=f"Delete leader pod {leader.name} to start again with the present one; requests "
        "in flight are lost.",
    )
    return Decision(reason=reason, memory=view.memory, stalled=True, limit=reason)


def _traffic(view: View, decision: Decision) -> tuple[SendTraffic, ...]:
    """A leader that serves gets traffic, unless this very decision ends it."""
    leader = view.leader
    if leader is None or leader.serving or not view.leader_serves:
        return ()
    if any(isinstance(a, DeletePod) and a.uid == leader.uid for a in decision.actions):
        return ()
    return (SendTraffic(pod=leader.name, uid=leader.uid, why="its engine answers"),)


_PAUSED = "spec.paused is true: nothing is changed."


def _paused(view: View, decision: Decision) -> Decision:
    """The same judgement with nothing done, and nothing put on record for what is not done."""
    if not decision.actions:
        words = f"{_PAUSED} Otherwise: {decision.reason.message}"
        reason = Reason(word=Settled.PAUSED, message=words)
        return replace(decision, reason=reason, resting=True, stalled=False)
    # A time to try again that is on no record would be another one at every look.
    words = f"{_PAUSED} Otherwise something would be done: {decision.reason.word}."
    reason = Reason(word=Settled.PAUSED, message=words)
    return Decision(reason=reason, memory=view.memory, resting=True, withheld=True)
