"""The EP size of one running engine: the operation in flight, one step on."""

from elasticep.api.models import OperationStatus
from elasticep.api.reasons import Phase
from elasticep.plan.decision import Decision
from elasticep.plan.growth import follow_growth, settle_growth
from elasticep.plan.native_shrink import follow_shrink, settle_shrink
from elasticep.plan.operation import adopt_operation, awaiting_proof
from elasticep.plan.view import View
from elasticep.world.engine import EngineState


def follow_operation(view: View, engine: EngineState) -> Decision | View:
    """The operation in flight, one step on; the view without it once it is settled."""
    view = adopt_operation(view, engine)
    operation = view.memory.operation
    if operation is None:
        return view
    if engine.effective == operation.to:
        unproven = awaiting_proof(view, operation)
        if unproven is None:
            return view.without_operation()
        return _follow(view, unproven, phase=Phase.PROVING_SERVING)
    if not engine.quiet:
        return _follow(view, operation, phase=engine.phase)
    if operation.kind == "Grow":
        return settle_growth(view, engine, operation)
    return settle_shrink(view, engine, operation)


def _follow(view: View, operation: OperationStatus, *, phase: str) -> Decision:
    follow = follow_growth if operation.kind == "Grow" else follow_shrink
    return follow(view, operation, phase=phase)
