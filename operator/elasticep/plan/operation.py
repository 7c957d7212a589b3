"""A change of the EP size that an engine is asked for: on record first, then followed to its end.

Growth and native shrinking share this; what each does while it runs, and when it fails, is its
own.
"""

from datetime import timedelta

from elasticep.api.models import OperationStatus
from elasticep.api.reasons import AnyWord, Loss, Phase, Progress, ReasonWord, word
from elasticep.plan.actions import RequestScale
from elasticep.plan.back_off import Failure
from elasticep.plan.decision import Decision, Reason
from elasticep.plan.recovery import restart
from elasticep.plan.view import View
from elasticep.world.engine import CompletionFailed, CompletionSucceeded, EngineState

OPERATION_POLL = timedelta(milliseconds=250)
_OVERDUE_POLL = timedelta(seconds=2)
_LOADING_MARGIN = timedelta(seconds=60)
"""How long past the engine's own timeout we wait for its verdict."""

_ASKED_FOR = timedelta(seconds=60)
"""How long an engine that answers is asked for the same size without beginning it."""


def begin(view: View, *, from_: int, to: int) -> OperationStatus:
    """The operation as it goes on record before the engine is asked for it."""
    now = view.snapshot.now
    timeout = timedelta(seconds=view.spec.engine.scale_timeout_seconds)
    return OperationStatus(
        kind="Grow" if to > from_ else "Shrink",
        from_=from_,
        to=to,
        phase=Phase.RECORDED,
        started_at=now,
        deadline=now + timeout + _LOADING_MARGIN,
        message=f"EP size {from_} → {to}",
    )


def renew(view: View, operation: OperationStatus) -> OperationStatus:
    """The operation as it is asked for again.

    Its time begins anew, for nobody knows how long the record has waited for an operator.
    """
    renewed = begin(view, from_=operation.from_, to=operation.to)
    return renewed.changed(phase=Phase.ASKING_AGAIN)


def adopt_operation(view: View, engine: EngineState) -> View:
    """What the engine runs is followed like our own, and what it has left behind is over.

    An engine runs one operation at a time: when it is at another target, or at a size that is
    neither end of ours, then ours has ended while nobody looked.
    """
    known = view.memory.operation
    if engine.pending is None:
        passed = known is not None and engine.effective not in {known.from_, known.to}
        return view.without_operation() if passed else view
    if known is not None and known.to == engine.pending:
        return view
    found = begin(view, from_=engine.effective, to=engine.pending)
    return view.remember(operation=found.changed(phase=engine.phase))


def phase_word(phase: str) -> AnyWord:
    """An engine's phase as a reason: ``waiting_for_cohort`` → ``WaitingForCohort``."""
    parts = (part[:1].upper() + part[1:] for part in phase.split("_") if part)
    return word("".join(parts) or "Unknown")


def await_quiet(view: View, engine: EngineState) -> Decision | None:
    """The wait for an engine that is still about something, as after a growth that nobody asked
    for, or in a phase that we do not know; nothing when it takes a request.
    """
    if engine.quiet:
        return None
    reason = Reason(
        word=phase_word(engine.phase),
        message=f"the engine serves with EP size {engine.effective} and is in phase {engine.phase}",
    )
    return Decision(reason=reason, memory=view.memory, look_again=_OVERDUE_POLL)


def ask(view: View, operation: OperationStatus, *, why: str) -> Decision:
    """The request for the operation's size; it is on record when the request is made.

    Raises:
        ValueError: the incarnation has no leader.
    """
    if view.leader is None:
        message = "only an engine that answers is asked for a size"
        raise ValueError(message)
    request = RequestScale(target=operation.to, leader_uid=view.leader.uid, why=why)
    return Decision(
        reason=Reason(word=_changing(operation), message=operation.message),
        memory=view.memory,
        actions=(request,),
        look_again=OPERATION_POLL,
    )


def drop(view: View, operation: OperationStatus) -> Decision:
    """The record goes of an operation that the engine was never asked for."""
    reason = Reason(
        word=Progress.OPERATION_DROPPED,
        message=f"{operation.message} was never requested and is not wanted any more",
    )
    memory = view.without_operation().memory
    return Decision(reason=reason, memory=memory, look_again=OPERATION_POLL)


def asked_in_vain(view: View, engine: EngineState, operation: OperationStatus) -> str:
    """What to say of an engine that was asked long enough and began nothing; empty before."""
    if view.snapshot.now - operation.started_at <= _ASKED_FOR:
        return ""
    return (
        f"{operation.message}: the engine was asked for {_ASKED_FOR.total_seconds():g} s "
        f"and did not begin it {engine.last_error}".strip()
    )


def awaiting_proof(view: View, operation: OperationStatus) -> OperationStatus | None:
    """The operation while the new size is not proven to serve; nothing once it is.

    Time for the proof begins when the new size is first seen. Once it is over the kubelet's probe
    decides, which has a token generated too: a group that serves is not ended because the
    operator cannot reach it.
    """
    if isinstance(view.hearing.completion, CompletionSucceeded):
        return None
    overdue = operation.phase == Phase.PROVING_SERVING and view.snapshot.now > operation.deadline
    if overdue and view.leader is not None and view.leader.ready:
        return None
    if operation.phase == Phase.PROVING_SERVING:
        return operation
    deadline = max(operation.deadline, view.snapshot.now + _LOADING_MARGIN)
    return operation.changed(deadline=deadline)


def end_hung(view: View, operation: OperationStatus, *, phase: str) -> Decision | None:
    """The end of an incarnation whose operation is overdue and whose leader is not Ready."""
    overdue = _overdue(view, operation, phase)
    if overdue is None or (view.leader is not None and view.leader.ready):
        return None
    return restart(view, Failure(reason=Loss.OPERATION_OVERDUE, message=overdue.message))


def follow(view: View, operation: OperationStatus, *, phase: str) -> Decision:
    """An operation that the engine is about."""
    followed = operation.changed(phase=phase)
    overdue = _overdue(view, operation, phase)
    return Decision(
        reason=Reason(word=_changing(operation), message=f"{operation.message}: {phase}"),
        memory=view.remember(operation=followed).memory,
        limit=overdue,
        look_again=_OVERDUE_POLL if overdue else OPERATION_POLL,
    )


def _changing(operation: OperationStatus) -> ReasonWord:
    return Progress.SCALING_UP if operation.kind == "Grow" else Progress.SCALING_DOWN


def _overdue(view: View, operation: OperationStatus, phase: str) -> Reason | None:
    """What to say of an operation that should have ended.

    A leader that is Ready serves, and is not ended for it: often the engine only lacks the
    forward pass that nobody sent while no operator ran.
    """
    if view.snapshot.now <= operation.deadline:
        return None
    broken = view.hearing.completion
    why = f": {broken.message}" if isinstance(broken, CompletionFailed) else ""
    return Reason(
        word=Loss.OPERATION_OVERDUE,
        message=f"{operation.message} passed its deadline in phase {phase}{why}",
        advice="If it does not end, delete the leader pod to start the group again; requests in "
        "flight are lost.",
    )
