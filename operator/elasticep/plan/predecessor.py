"""The incarnation that serves while its successor is made: when it is lost, what it gives up."""

from dataclasses import replace
from datetime import timedelta

from elasticep.api.models import FailureStatus, MoveKind, MoveStatus, MoveStrategy
from elasticep.plan import back_off
from elasticep.plan.actions import DeletePod
from elasticep.plan.back_off import Failure
from elasticep.plan.decision import Decision, Reason
from elasticep.plan.joiners import failed_joiners, surplus
from elasticep.plan.leader import silence
from elasticep.plan.recovery import delete_all, leader_loss, lost_joiners, rank_loss
from elasticep.plan.view import View

_LOST_POLL = timedelta(seconds=1)


def predecessor_loss(view: View, move: MoveStatus) -> Failure | None:
    """Why the incarnation that served will not get to see its successor.

    One that has lost ranks and is not Ready serves nobody, and may hold the GPUs that its
    successor waits for.
    """
    if lost := leader_loss(view) or silence(view):
        return lost
    surges = move.kind is MoveKind.RECOVER or view.spec.recovery.strategy is MoveStrategy.SURGE
    if surges and view.leader is not None and view.leader.ready:
        return None
    return rank_loss(view)


def lose_predecessor(view: View, move: MoveStatus, lost: Failure) -> Decision:
    """The successor is on its own from now on, and what is left of the other one goes."""
    failures = _after_loss(view, lost)
    reason = Reason(word=lost.reason, message=lost.message, advice=lost.advice)
    memory = replace(
        view.memory,
        incarnation=move.successor,
        operation=move.operation,
        joiners=move.joiners,
        failures=failures,
        move=None,
        scale_down=None,
    )
    actions = delete_all(view.live, why=lost.message)
    return Decision(reason=reason, memory=memory, actions=actions, look_again=_LOST_POLL)


def _after_loss(view: View, lost: Failure) -> FailureStatus | None:
    """The loss as it goes on record, unless that would lift what stands in the successor's way."""
    known = view.memory.incarnation
    of_another_template = known is not None and known.template_hash != view.template_hash
    if back_off.is_final(view) or (of_another_template and back_off.stands(view)):
        return view.memory.failures
    return back_off.count_failure(view, lost)


def tidy(view: View) -> tuple[DeletePod, ...]:
    """The end of what the incarnation that serves can do without: its successor may need the room.

    A joiner that the engine waits for stays until the engine gives up, or has it.
    """
    useless = (*view.strays, *lost_joiners(view), *failed_joiners(view))
    ended = delete_all(useless, why="what their ranks were part of has ended")
    engine = view.engine
    if engine is None or engine.pending is not None:
        return ended
    known = {action.uid for action in ended}
    left = (a for a in surplus(view, engine, awaited=None) if a.uid not in known)
    return (*ended, *left)
