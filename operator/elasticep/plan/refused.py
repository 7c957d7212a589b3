"""What it means that an action was refused: by the API server, or by the engine."""

from elasticep.plan import back_off
from elasticep.plan.back_off import Failure
from elasticep.plan.decision import Decision, Reason
from elasticep.plan.native_shrink import note_refusal
from elasticep.plan.operation import OPERATION_POLL
from elasticep.plan.recovery import backing_off
from elasticep.plan.view import View


def explain_refusal(view: View) -> Decision | None:
    """The wait, or the stop, that the first refusal of this look asks for.

    An operation that the engine refused never began, so it goes off the record.
    """
    refusals = view.snapshot.refusals
    if not refusals:
        return None
    refusal = refusals[0]
    who = "the engine" if refusal.by_engine else "the API server"
    failure = Failure(
        reason=refusal.reason,
        message=f"{who} refuses {refusal.subject}: {refusal.message}",
        lasting=refusal.lasting,
    )
    if refusal.by_engine:
        operation = view.memory.operation
        if operation is not None and operation.kind == "Shrink":
            return _fall_back(note_refusal(view, failure.message), failure)
        view = view.without_operation()
    if back_off.holds(view):
        # A Service or a Secret is tried at every look; only a try that was due is counted.
        return backing_off(view)
    return backing_off(view.remember(failures=back_off.count_failure(view, failure)))


def _fall_back(view: View, failure: Failure) -> Decision:
    """An engine that does not give ranks back has not failed: the fallback is next."""
    reason = Reason(word=failure.reason, message=failure.message)
    return Decision(reason=reason, memory=view.memory, look_again=OPERATION_POLL)
