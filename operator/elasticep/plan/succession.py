"""Surge: a second incarnation beside the one that serves, until it can take its place.

The successor is asked the same questions as any incarnation, by `elasticep.plan.life`. This is
about the two together: when the traffic goes over, when the successor is not wanted any more, and
what is left to do when the one that serves is lost meanwhile.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from elasticep.api.models import MoveKind, MoveStatus, MoveStrategy, ShrinkStrategy
from elasticep.api.reasons import Blocked, Loss, Progress, Scheduler
from elasticep.plan import back_off
from elasticep.plan.back_off import Failure
from elasticep.plan.decision import Decision, Reason
from elasticep.plan.joiner_status import joiner_statuses
from elasticep.plan.leader import WAITING_POLL, adopt
from elasticep.plan.life import live_on
from elasticep.plan.native_shrink import shrink_strategy
from elasticep.plan.predecessor import lose_predecessor, predecessor_loss, tidy
from elasticep.plan.recovery import (
    backing_off,
    begin_again,
    delete_all,
    following,
    rank_loss,
    restart,
)
from elasticep.plan.refused import explain_refusal
from elasticep.plan.retirement import retire, retire_pods
from elasticep.plan.view import View
from elasticep.world.engine import CompletionSucceeded, EngineState

TEMPLATE_CHANGED = "the spec has changed in what shapes the pods"
"""Why there is a roll-out."""

_DROP_POLL = timedelta(seconds=1)
_PROOF_POLL = timedelta(seconds=1)


def begin_surge(view: View, kind: MoveKind, message: str) -> Decision:
    """The first step of a second incarnation."""
    known = view.memory.incarnation
    successor = following(view)
    move = MoveStatus(
        kind=kind,
        successor=successor,
        after=known.serial if known else successor.serial - 1,
        started_at=view.snapshot.now,
        message=message,
    )
    return _tend_successor(view.without_operation().remember(move=move))


def take_over(view: View) -> View:
    """The view with the successor in its place, once it serves: a completion has proven it."""
    move = view.memory.move
    if move is None or not _serves(view.successor()):
        return view
    successor = adopt(view.successor())
    incarnation = successor.memory.incarnation or move.successor
    retired = retire(view, incarnation, kind=move.kind, ends_first=False, message=move.message)
    memory = replace(retired.memory, operation=None, joiners=joiner_statuses(successor), move=None)
    return replace(retired, memory=memory, hearing=successor.hearing)


def _serves(view: View) -> bool:
    engine, leader = view.engine, view.leader
    if engine is None or leader is None or not leader.ready or not view.template_is_current:
        return False
    proven = isinstance(view.hearing.completion, CompletionSucceeded)
    whole = engine.quiet and engine.effective == view.desired and rank_loss(view) is None
    return proven and whole and not view.strays


def follow_move(view: View) -> Decision:
    """The next step of the two incarnations, or of the one that is left.

    Raises:
        ValueError: no other incarnation is being made.
    """
    move = view.memory.move
    if move is None:
        message = "no other incarnation is being made"
        raise ValueError(message)
    if lost := predecessor_loss(view, move):
        return lose_predecessor(view, move, lost)
    if not_wanted := _why_not_wanted(view, move):
        return drop_successor(view, not_wanted)
    if move.kind is MoveKind.SCALE_DOWN and not view.template_is_current:
        move = move.changed(kind=MoveKind.ROLL_OUT, message=TEMPLATE_CHANGED)
    return _tend_successor(view.remember(move=move))


def drop_successor(view: View, why: str) -> Decision:
    """The end of a successor that nobody wants any more; what it failed of counts no more."""
    reason = Reason(word=Progress.SUCCESSOR_DROPPED, message=why)
    dropped = retire_pods(view, view.successor().live, message=why)
    engine = view.engine
    wanted_again = engine is not None and engine.effective <= view.desired
    scale_down = None if wanted_again else view.memory.scale_down
    memory = replace(dropped.memory, move=None, failures=None, scale_down=scale_down)
    return Decision(reason=reason, memory=memory, look_again=_DROP_POLL)


def _why_not_wanted(view: View, move: MoveStatus) -> str:
    """Why the spec does not ask for this move any more; empty when it does."""
    if move.kind is MoveKind.RECOVER:
        restarts = view.spec.recovery.strategy is not MoveStrategy.SURGE
        return "spec.recovery.strategy is not Surge any more" if restarts else ""
    if not view.template_is_current:
        restarts = view.spec.rollout.strategy is not MoveStrategy.SURGE
        return "spec.rollout.strategy is not Surge any more" if restarts else ""
    if move.kind is MoveKind.ROLL_OUT:
        return "the spec is again what the pods that serve were made from"
    engine = view.engine
    if engine is None:
        return ""
    if engine.effective <= view.desired:
        return f"EP size {engine.effective} is wanted again, and serves"
    surges = shrink_strategy(view, engine) is ShrinkStrategy.SURGE
    return "" if surges else "spec.scaleDown.strategy is not Surge any more"


def _tend_successor(view: View) -> Decision:
    """The successor's next step, while the other incarnation goes on as it is."""
    successor = view.successor()
    decision = explain_refusal(successor) or _give_up_late(successor)
    if decision is None:
        decision = live_on(adopt(successor), recover=restart, move=_renew_outgrown)
    look_again = decision.look_again or _next_look(view, decision)
    return replace(
        _seen_from(view, decision),
        actions=(*tidy(view), *decision.actions),
        resting=False,
        look_again=look_again,
    )


def _next_look(view: View, decision: Decision) -> timedelta | None:
    """When to look at two incarnations that nothing is done about, if ever.

    A successor that waits for a human still gives its GPUs back when it is late, and what served
    may fall silent meanwhile.
    """
    if not decision.stalled:
        return _PROOF_POLL
    if view.leader is None or not view.leader.ready or view.engine is None:
        return WAITING_POLL
    successor = view.successor()
    deadline = _deadline(successor)
    if deadline is None or deadline <= view.snapshot.now:
        return None
    return deadline - view.snapshot.now


def _seen_from(view: View, decision: Decision) -> Decision:
    """The successor's decision as the group's, with both incarnations on record."""
    move, successor = view.memory.move, decision.memory.incarnation
    if move is None or successor is None:
        message = "a successor that is tended is on record"
        raise ValueError(message)
    begun_again = successor.serial != move.successor.serial
    told = joiner_statuses(replace(view.successor(), memory=decision.memory))
    move = move.changed(
        successor=successor,
        operation=decision.memory.operation,
        joiners=() if begun_again else told,
    )
    memory = replace(view.memory, move=move, failures=decision.memory.failures)
    reason = _told_of_successor(decision.reason)
    limit = decision.limit and _no_room(view, decision.limit)
    return replace(decision, memory=memory, reason=limit or reason, limit=limit)


def _told_of_successor(reason: Reason) -> Reason:
    return replace(reason, message=f"the next incarnation: {reason.message}")


def _no_room(view: View, limit: Reason) -> Reason:
    """What it means that a successor has no place: the other one keeps serving."""
    if limit.word is not Scheduler.UNSCHEDULABLE:
        return _told_of_successor(limit)
    move = view.memory.move
    field = {MoveKind.SCALE_DOWN: "scaleDown", MoveKind.RECOVER: "recovery"}
    named = field.get(move.kind, "rollout") if move else "rollout"
    return Reason(
        word=Blocked.INSUFFICIENT_CAPACITY,
        message=f"no room beside the incarnation that serves on: {limit.message}",
        advice="Free or add what is short; or set "
        f"spec.{named}.strategy to Restart, which ends the old one first, so that nothing "
        "serves meanwhile.",
    )


def _give_up_late(successor: View) -> Decision | None:
    """The end of a successor that holds GPUs and does not come to serve."""
    deadline = _deadline(successor)
    if deadline is None or successor.snapshot.now < deadline:
        return None
    known = successor.memory.failures
    if known is not None and back_off.is_final(successor):
        # It waits for a human, who is to read why: that it is late as well explains nothing.
        given_up = successor.without_operation().remember(incarnation=following(successor))
        actions = delete_all(successor.live, why=known.message)
        return replace(backing_off(given_up), actions=actions)
    seconds = successor.spec.rollout.progress_deadline_seconds
    message = f"it did not come to serve within {seconds} s (spec.rollout.progressDeadlineSeconds)"
    return restart(successor, Failure(reason=Loss.PROGRESS_DEADLINE_EXCEEDED, message=message))


def _renew_outgrown(view: View, engine: EngineState) -> Decision | View:
    """A successor that is larger than what is wanted by now is made again."""
    if engine.effective <= view.desired:
        return view
    reason = Reason(
        word=Progress.REPLACING_STALE_PODS,
        message=f"EP size {engine.effective} is more than is wanted by now",
    )
    return begin_again(view, reason)


def _deadline(successor: View) -> datetime | None:
    """When a successor is late; never while it waits for its node, and so holds no GPUs."""
    move, leader = successor.memory.move, successor.leader
    if move is None or leader is None or leader.scheduled_at is None:
        return None
    allowed = timedelta(seconds=successor.spec.rollout.progress_deadline_seconds)
    return max(move.started_at, leader.scheduled_at) + allowed
