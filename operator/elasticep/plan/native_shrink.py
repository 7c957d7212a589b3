"""Fewer ranks from a running engine, where it offers that: the last ranks go, the group serves on.

Source: https://github.com/sgl-project/sglang/pull/33111, which no release has yet. An engine that
lists ``safe_to_terminate_ranks`` in its state is one that can.
"""

from elasticep.api.models import OperationStatus, ShrinkStrategy
from elasticep.api.reasons import Phase
from elasticep.plan.decision import Decision
from elasticep.plan.operation import (
    ask,
    asked_in_vain,
    await_quiet,
    begin,
    drop,
    end_hung,
    follow,
    renew,
)
from elasticep.plan.view import View
from elasticep.world.engine import FAILED_PHASE, EngineState


def shrink_strategy(view: View, engine: EngineState) -> ShrinkStrategy:
    """How this engine comes to a smaller size: as the spec says, or else by its fallback."""
    wanted = view.spec.scale_down.strategy
    if wanted is ShrinkStrategy.NATIVE and not _can_shrink(view, engine):
        return ShrinkStrategy(view.spec.scale_down.fallback)
    return wanted


def shrink(view: View, engine: EngineState) -> Decision:
    """The engine is asked for the smaller size, once that is on record."""
    if busy := await_quiet(view, engine):
        return busy
    operation = begin(view, from_=engine.effective, to=view.desired)
    return ask(view.remember(operation=operation), operation, why="fewer ranks are wanted")


def settle_shrink(view: View, engine: EngineState, operation: OperationStatus) -> Decision | View:
    """The engine is at rest and at the old size: it has not been asked, or it has given up."""
    if operation.phase == Phase.RECORDED:
        operation = renew(view, operation)
    elif operation.phase != Phase.ASKING_AGAIN or engine.phase == FAILED_PHASE:
        words = engine.last_error or "the engine gave up without a reason"
        return note_refusal(view, f"{operation.message} failed: {words}")
    elif in_vain := asked_in_vain(view, engine, operation):
        return note_refusal(view, in_vain)
    if view.desired != operation.to or not view.template_is_current:
        return drop(view, operation)
    return ask(view.remember(operation=operation), operation, why="fewer ranks are wanted")


def note_refusal(view: View, words: str) -> View:
    """The view with it on record that the engine does not give ranks back."""
    wanted = view.memory.scale_down
    noted = wanted.changed(refusal=words) if wanted else None
    return view.without_operation().remember(scale_down=noted)


def follow_shrink(view: View, operation: OperationStatus, *, phase: str) -> Decision:
    """A shrink that the engine is about; no pod goes before the engine says that it may."""
    return end_hung(view, operation, phase=phase) or follow(view, operation, phase=phase)


def _can_shrink(view: View, engine: EngineState) -> bool:
    """Whether the engine says that it can give ranks back, and has not refused to."""
    wanted = view.memory.scale_down
    return engine.safe_to_terminate is not None and not (wanted and wanted.refusal)
