"""From what is known to the next safe step.

Level-triggered: whatever happened before, and wherever an earlier process died, the same
snapshot gives the same plan. Each question is asked in turn, and the first that has an answer
decides.
"""

from dataclasses import replace

from elasticep.api.reasons import Settled
from elasticep.plan import back_off
from elasticep.plan.actions import DeletePod, SendTraffic
from elasticep.plan.decision import Decision, Memory, Plan, Reason
from elasticep.plan.leader import adopt
from elasticep.plan.life import live_on
from elasticep.plan.moves import move_on, recover, roll_out_unheard
from elasticep.plan.name_conflict import name_conflict
from elasticep.plan.refused import explain_refusal
from elasticep.plan.retirement import await_retirement, end_retiring, stop, without_ended
from elasticep.plan.status import report, report_unreadable
from elasticep.plan.succession import follow_move, take_over
from elasticep.plan.surroundings import surroundings
from elasticep.plan.view import NOTHING_HEARD, View
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
    view = without_ended(view)
    if view.spec.paused:
        decision = _paused(view, _decide(view))
    else:
        view = take_over(view)
        decision = end_retiring(view, _decide(view))
    return Plan(
        status=report(_as_decided(view, decision.memory), decision),
        actions=decision.actions,
        look_again=decision.look_again,
    )


def _decide(view: View) -> Decision:
    if view.spec.replicas == 0:
        return stop(view)
    if conflict := name_conflict(view):
        return conflict
    if view.memory.move is not None:
        decision = follow_move(adopt(view))
    elif refused := explain_refusal(view):
        return refused
    else:
        view = adopt(view)
        decision = (
            await_retirement(view)
            or roll_out_unheard(view)
            or live_on(view, recover=recover, move=move_on)
        )
    return replace(
        decision, actions=(*surroundings(view), *_traffic(view, decision), *decision.actions)
    )


def _as_decided(view: View, memory: Memory) -> View:
    """The view that the report is about: of the incarnation on record, also if that is new."""
    if view.leader is None or memory.incarnation is None:
        return view
    if view.leader.incarnation == memory.incarnation.id:
        return view
    return replace(view, memory=memory, hearing=NOTHING_HEARD)


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
    if not decision.actions and not _moves(view.memory, decision.memory):
        words = f"{_PAUSED} Otherwise: {decision.reason.message}"
        reason = Reason(word=Settled.PAUSED, message=words)
        return replace(decision, reason=reason, resting=True, stalled=False)
    # A time to try again that is on no record would be another one at every look.
    words = f"{_PAUSED} Otherwise something would be done: {decision.reason.word}."
    reason = Reason(word=Settled.PAUSED, message=words)
    return Decision(reason=reason, memory=view.memory, resting=True, withheld=True)


def _moves(before: Memory, after: Memory) -> bool:
    """Whether an incarnation would begin or end."""
    old, new = before.incarnation, after.incarnation
    begins = (old.serial if old else 0) != (new.serial if new else 0)
    return begins or (before.move, before.retiring) != (after.move, after.retiring)
