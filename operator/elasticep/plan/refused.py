"""What it means that an action was refused: by the API server, or by the engine."""

from elasticep.plan import back_off
from elasticep.plan.decision import Decision, Reason
from elasticep.plan.view import View


def explain_refusal(view: View) -> Decision | None:
    """The wait, or the stop, that the first refusal of this look asks for.

    An operation that the engine refused never began, so it goes off the record.
    """
    refusals = view.snapshot.refusals
    if not refusals:
        return None
    refusal = refusals[0]
    failure = back_off.next_failure(
        view.memory.failures,
        reason=refusal.reason,
        message=f"{refusal.subject}: {refusal.message}",
        advice="",
        now=view.snapshot.now,
        template_hash=view.template_hash,
        lasting=refusal.lasting,
    )
    view = view.remember(failures=failure)
    if refusal.action == "RequestScale":
        view = view.without_operation()
    reason = Reason(word=refusal.reason, message=failure.message)
    return Decision(
        reason=reason,
        memory=view.memory,
        stalled=refusal.lasting,
        limit=reason,
        look_again=None if refusal.lasting else back_off.delay(failure.count),
    )
