"""Moves between incarnations: when one is due, and how.

Smaller sizes, changed templates and lost ranks all end in another incarnation. *Surge* makes it
beside the one that serves; *Restart* ends that one first.
"""

from datetime import timedelta

from elasticep.api.models import (
    MoveKind,
    MoveStrategy,
    ScaleDownStatus,
    ShrinkStrategy,
)
from elasticep.api.reasons import Blocked, Progress
from elasticep.plan import back_off
from elasticep.plan.back_off import Failure
from elasticep.plan.decision import Decision, Reason
from elasticep.plan.native_shrink import shrink, shrink_strategy
from elasticep.plan.recovery import restart
from elasticep.plan.retirement import begin_restart
from elasticep.plan.succession import TEMPLATE_CHANGED, begin_surge
from elasticep.plan.view import View
from elasticep.world.engine import EngineState


def note_target(view: View, engine: EngineState) -> View:
    """The view with it on record since when no more than the wanted size has been asked for.

    A target that falls further begins anew; one that rises and is still smaller than what serves
    does not: no more than that was asked for all the while.
    """
    known = view.memory.scale_down
    if engine.effective <= view.desired:
        return view.remember(scale_down=None)
    if known is None or view.desired < known.ep_size:
        noted = ScaleDownStatus(ep_size=view.desired, since=view.snapshot.now)
    else:
        noted = known.changed(ep_size=view.desired)
    return view.remember(scale_down=noted)


def move_on(view: View, engine: EngineState) -> Decision | View:
    """The move that is due, if one is; the view with the wanted size on record otherwise."""
    if rolling := roll_out(view):
        return rolling
    view = note_target(view, engine)
    return scale_down(view, engine) or view


def roll_out_unheard(view: View) -> Decision | None:
    """The move to the present template of a leader that has served and cannot be asked.

    A changed admin key is one of the reasons why it cannot.
    """
    leader = view.leader
    if leader is None or leader.dead or not leader.serving or view.engine is not None:
        return None
    return roll_out(view)


def roll_out(view: View) -> Decision | None:
    """The move to the present template, when the serving incarnation is of another one."""
    if view.leader is None or view.template_is_current:
        return None
    return _move(view, MoveKind.ROLL_OUT, view.spec.rollout.strategy, TEMPLATE_CHANGED)


def scale_down(view: View, engine: EngineState) -> Decision | None:
    """The move to a smaller size, once that has been asked for long enough."""
    wanted = view.memory.scale_down
    if wanted is None:
        return None
    message = f"EP size {engine.effective} → {view.desired}"
    stable = timedelta(seconds=view.spec.scale_down.stabilization_seconds)
    left = wanted.since + stable - view.snapshot.now
    strategy = shrink_strategy(view, engine)
    if strategy is ShrinkStrategy.DISABLED:
        return _keep_size(view, engine, wanted.refusal)
    if left > timedelta():
        reason = Reason(
            word=Progress.STABILIZING,
            message=f"{message} begins if it is still wanted at {wanted.since + stable:%H:%M:%S} "
            "UTC (spec.scaleDown.stabilizationSeconds)",
        )
        return Decision(reason=reason, memory=view.memory, look_again=left)
    if strategy is ShrinkStrategy.NATIVE:
        return shrink(view, engine)
    if wanted.refusal:
        message = f"{message}; {wanted.refusal}"
    return _move(view, MoveKind.SCALE_DOWN, MoveStrategy(strategy), message)


def recover(view: View, lost: Failure) -> Decision:
    """What follows when ranks are lost: a successor beside what is left, or in its place."""
    surge = view.spec.recovery.strategy is MoveStrategy.SURGE
    if not surge or view.coming or view.leader is None or not view.leader.ready:
        return restart(view, lost)
    view = view.remember(failures=back_off.count_failure(view, lost))
    return begin_surge(view, MoveKind.RECOVER, lost.message)


def _move(view: View, kind: MoveKind, strategy: MoveStrategy, message: str) -> Decision:
    if view.memory.retiring:
        words = f"{message}: begins when the last move has ended"
        reason = Reason(word=Progress.WAITING_FOR_OLD_PODS, message=words)
        return Decision(reason=reason, memory=view.memory)
    if strategy is MoveStrategy.SURGE:
        return begin_surge(view, kind, message)
    return begin_restart(view, kind, message)


def _keep_size(view: View, engine: EngineState, refusal: str) -> Decision:
    why = f"; {refusal}" if refusal else ""
    reason = Reason(
        word=Blocked.SCALE_DOWN_DISABLED,
        message=f"the group serves with EP size {engine.effective} and keeps it, as "
        f"spec.scaleDown says; {view.desired} is asked for{why}",
    )
    return Decision(reason=reason, memory=view.memory, limit=reason, resting=True)
