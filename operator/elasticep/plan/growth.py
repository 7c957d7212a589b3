"""The scale-up: one joiner, one operation at a time, the engine's answer the only truth."""

from dataclasses import replace
from datetime import timedelta

from elasticep.api.models import OperationStatus
from elasticep.api.reasons import ForeignWord, Loss, Phase, Progress
from elasticep.engine.crash_signatures import classify_text
from elasticep.plan import back_off
from elasticep.plan.actions import CreatePod, DeletePod, RequestScale
from elasticep.plan.back_off import Failure
from elasticep.plan.decision import Decision, Reason
from elasticep.plan.joiners import (
    create_joiner,
    engine_started,
    in_the_way,
    joiner_failure,
    make_joiner,
    wants,
)
from elasticep.plan.leader import STARTING_POLL, WAITING_POLL
from elasticep.plan.recovery import backing_off, restart
from elasticep.plan.view import View
from elasticep.plan.waiting import why_waiting
from elasticep.world.engine import FAILED_PHASE, CompletionFailed, CompletionSucceeded, EngineState
from elasticep.world.pods import Pod

OPERATION_POLL = timedelta(milliseconds=250)
_JOINERLESS_POLL = timedelta(seconds=2)
_LOADING_MARGIN = timedelta(seconds=60)
"""How long past the engine's own timeout we wait for its verdict."""

_ASKED_FOR = timedelta(seconds=60)
"""How long an engine that answers is asked for the same growth without beginning it."""


def follow_operation(view: View, engine: EngineState) -> Decision | View:
    """The operation in flight, one step on; the view without it once it is settled."""
    view = _adopt_operation(view, engine)
    operation = view.memory.operation
    if operation is None:
        return view
    if engine.effective == operation.to:
        if isinstance(view.snapshot.completion, CompletionSucceeded):
            return view.without_operation()
        return _prove(view, operation)
    if not engine.quiet:
        return _keep_following(view, operation, phase=engine.phase)
    return _settle(view, engine, operation)


def grow(view: View, engine: EngineState) -> Decision | None:
    """The next joiner, when ranks are missing and nothing is in flight."""
    if view.desired <= engine.effective:
        return None
    joiner = view.joiner_at(engine.effective)
    if joiner is not None and (failure := joiner_failure(joiner)):
        return _give_up(view, failure, joiner)
    if back_off.holds(view):
        return backing_off(view)
    if joiner is None:
        return create_joiner(view, engine.effective)
    if not engine_started(joiner):
        reason = why_waiting(joiner)
        limit = None if reason.passing else reason
        return Decision(reason=reason, memory=view.memory, limit=limit, look_again=WAITING_POLL)
    return _record(view, engine, joiner)


def _adopt_operation(view: View, engine: EngineState) -> View:
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
    found = _operation(view, from_=engine.effective, to=engine.pending)
    return view.remember(operation=found.model_copy(update={"phase": engine.phase}))


def _record(view: View, engine: EngineState, joiner: Pod) -> Decision:
    operation = _operation(
        view, from_=engine.effective, to=engine.effective + view.spec.joiner.ranks
    )
    view = view.remember(operation=operation)
    return _ask(view, operation, why=f"joiner {joiner.name} is starting")


def _operation(view: View, *, from_: int, to: int) -> OperationStatus:
    now = view.snapshot.now
    timeout = timedelta(seconds=view.spec.engine.scale_timeout_seconds)
    return OperationStatus(
        from_=from_,
        to=to,
        phase=Phase.RECORDED,
        started_at=now,
        deadline=now + timeout + _LOADING_MARGIN,
        message=f"EP size {from_} → {to}",
    )


def _settle(view: View, engine: EngineState, operation: OperationStatus) -> Decision | View:
    """The engine is at rest and at the old size: it has not been asked, or it has given up."""
    if operation.phase == Phase.RECORDED:
        return _request(view, engine, operation)
    if operation.phase == Phase.ASKING_AGAIN and engine.phase != FAILED_PHASE:
        return _insist(view, engine, operation)
    return _fail(view, engine, operation)


def _request(view: View, engine: EngineState, operation: OperationStatus) -> Decision:
    """On record, and the engine is idle at the old size: it has not been asked, or not heard.

    Asking for an absolute size again is safe then: had it been accepted in between, the answer
    is 409 or 400, never a second operation. Its time begins anew, for nobody knows how long the
    record has waited for an operator.
    """
    joiner = view.joiner_at(operation.from_)
    wanted = wants(view, operation.to) and engine.effective == operation.from_
    if not wanted or joiner is None or not engine_started(joiner):
        reason = Reason(
            word=Progress.OPERATION_DROPPED,
            message=f"{operation.message} was never requested and is not wanted any more",
        )
        return Decision(
            reason=reason, memory=view.without_operation().memory, look_again=OPERATION_POLL
        )
    if operation.phase == Phase.RECORDED:
        renewed = _operation(view, from_=operation.from_, to=operation.to)
        operation = renewed.model_copy(update={"phase": Phase.ASKING_AGAIN})
    return _ask(
        view.remember(operation=operation), operation, why=f"joiner {joiner.name} is starting"
    )


def _insist(view: View, engine: EngineState, operation: OperationStatus) -> Decision:
    """Ask again, for a while; the joiner is not to blame when nothing comes of it."""
    if view.snapshot.now - operation.started_at <= _ASKED_FOR:
        return replace(_request(view, engine, operation), look_again=STARTING_POLL)
    failure = Failure(
        reason=Loss.SCALE_UP_FAILED,
        message=f"{operation.message}: the engine was asked for {_ASKED_FOR.total_seconds():g} s "
        f"and did not begin it {engine.last_error}".strip(),
    )
    return _give_up(view.without_operation(), failure, None)


def _ask(view: View, operation: OperationStatus, *, why: str) -> Decision:
    return Decision(
        reason=Reason(word=Progress.SCALING_UP, message=operation.message),
        memory=view.memory,
        actions=(RequestScale(target=operation.to, why=why),),
        look_again=OPERATION_POLL,
    )


def _prove(view: View, operation: OperationStatus) -> Decision | View:
    """Grown, and not proven to serve: time for that begins when the new size is first seen.

    Once it is over the kubelet's probe decides, which has a token generated too: a group that
    serves is not ended because the operator cannot reach it.
    """
    overdue = operation.phase == Phase.PROVING_SERVING and view.snapshot.now > operation.deadline
    if overdue and view.leader is not None and view.leader.ready:
        return view.without_operation()
    if operation.phase != Phase.PROVING_SERVING:
        deadline = max(operation.deadline, view.snapshot.now + _LOADING_MARGIN)
        operation = operation.model_copy(update={"deadline": deadline})
    return _keep_following(view, operation, phase=Phase.PROVING_SERVING)


def _keep_following(view: View, operation: OperationStatus, *, phase: str) -> Decision:
    overdue = _overdue(view, operation, phase)
    if overdue is not None and (view.leader is None or not view.leader.ready):
        return restart(view, Failure(reason=Loss.OPERATION_OVERDUE, message=overdue.message))
    effective = view.engine.effective if view.engine else operation.from_
    joiner = view.joiner_at(operation.from_)
    if joiner is not None and effective < operation.to and (failed := joiner_failure(joiner)):
        # No request can cancel the operation: it stays on record until the engine ends it.
        return _give_up(view, failed, joiner)
    followed = operation.model_copy(update={"phase": phase})
    joinerless = joiner is None and effective < operation.to
    if joinerless and back_off.holds(view):
        # The engine waits for a joiner that would fail again; it is kept going until it gives up.
        held = backing_off(view.remember(operation=followed))
        return replace(held, look_again=_JOINERLESS_POLL)
    actions: tuple[CreatePod, ...] = ()
    if joinerless and wants(view, operation.to) and not in_the_way(view, effective):
        actions = (make_joiner(view, effective),)
    return Decision(
        reason=Reason(word=Progress.SCALING_UP, message=f"{operation.message}: {phase}"),
        memory=view.remember(operation=followed).memory,
        actions=actions,
        limit=overdue,
        look_again=OPERATION_POLL,
    )


def _overdue(view: View, operation: OperationStatus, phase: str) -> Reason | None:
    """What to say of an operation that should have ended.

    A leader that is Ready serves, and is not ended for it: often the engine only lacks the
    forward pass that nobody sent while no operator ran.
    """
    if view.snapshot.now <= operation.deadline:
        return None
    broken = view.snapshot.completion
    why = f": {broken.message}" if isinstance(broken, CompletionFailed) else ""
    return Reason(
        word=Loss.OPERATION_OVERDUE,
        message=f"{operation.message} passed its deadline in phase {phase}{why}",
        advice="If it does not end, delete the leader pod to start the group again; requests in "
        "flight are lost.",
    )


def _fail(view: View, engine: EngineState, operation: OperationStatus) -> Decision | View:
    """The engine gave the operation up; the group goes on serving at its size.

    When its joiner has failed meanwhile, that is on record already and this is what came of it.
    """
    known = view.memory.failures
    if known is not None and known.last_failure_at >= operation.started_at:
        return view.without_operation()
    words = engine.last_error or "the engine gave up without a reason"
    signature = classify_text(words)
    failure = Failure(
        reason=ForeignWord(signature.reason) if signature else Loss.SCALE_UP_FAILED,
        message=f"{operation.message} failed: {words}",
        advice=signature.advice if signature else "",
        lasting=signature.deterministic if signature else False,
    )
    joiner = view.joiner_at(operation.from_)
    # What the joiner itself says is nearer to the cause than the leader's waiting in vain.
    if joiner is not None and (found := joiner_failure(joiner)):
        failure = found
    return _give_up(view.without_operation(), failure, joiner)


def _give_up(view: View, failure: Failure, joiner: Pod | None) -> Decision:
    """Back off with this joiner gone; the group keeps serving at the size that it has."""
    view = view.remember(failures=back_off.count_once(view, failure))
    actions = (DeletePod(name=joiner.name, uid=joiner.uid, why=failure.message),) if joiner else ()
    return replace(backing_off(view), actions=actions)
