"""One incarnation, from its leader pod to the wanted size: what is the next step?

Each question is asked in turn, and the first that has an answer decides. Where the incarnation
that serves and one that is to take over go different ways, the caller says how.
"""

from collections.abc import Callable
from dataclasses import replace

from elasticep.api.reasons import Progress, Settled
from elasticep.plan.back_off import Failure
from elasticep.plan.decision import Decision, Reason
from elasticep.plan.growth import grow
from elasticep.plan.joiners import trim, without_crash_loop
from elasticep.plan.leader import WAITING_POLL, await_engine, end_overdue, ensure_leader
from elasticep.plan.recovery import rank_loss
from elasticep.plan.retired_ranks import release
from elasticep.plan.sizing import follow_operation
from elasticep.plan.view import View
from elasticep.world.engine import EngineState

Recover = Callable[[View, Failure], Decision]
"""What follows when ranks are lost."""

Move = Callable[[View, EngineState], Decision | View]
"""What follows when the incarnation is not what the spec asks for and cannot become it; the view,
perhaps with more on record, when it can."""


def live_on(view: View, *, recover: Recover, move: Move) -> Decision:
    """The next step of one incarnation."""
    if pending := ensure_leader(view):
        return pending
    if waiting := await_engine(view):
        return without_crash_loop(view, waiting)
    engine = view.engine
    if engine is None:
        message = "await_engine lets nothing pass but an engine that answers"
        raise AssertionError(message)
    if lost := rank_loss(view):
        return recover(view, lost)
    followed = follow_operation(view, engine)
    if isinstance(followed, Decision):
        return followed
    freed = release(followed, engine)
    if freed is not None and (freed.actions or view.template_is_current):
        return freed
    return trim(followed, engine) or _resize(followed, engine, move)


def _resize(view: View, engine: EngineState, move: Move) -> Decision:
    if hung := end_overdue(view):
        return hung
    moved = move(view, engine)
    decision = moved if isinstance(moved, Decision) else grow(moved, engine) or _rest(moved, engine)
    if view.leader is None or view.leader.ready or decision.look_again is not None:
        return decision
    return replace(decision, look_again=WAITING_POLL)


def _rest(view: View, engine: EngineState) -> Decision:
    """The wanted size is there."""
    if view.leader is not None and not view.leader.ready:
        reason = Reason(
            word=Progress.LEADER_NOT_READY,
            message=f"leader pod {view.leader.name} answers but is not Ready yet",
        )
        return Decision(reason=reason, memory=view.memory, look_again=WAITING_POLL)
    reason = Reason(
        word=Settled.ALL_RANKS_SERVING, message=f"serving with EP size {engine.effective}"
    )
    return Decision(reason=reason, memory=view.memory, resting=True)
