"""The scale-up: one joiner, one operation at a time, the engine's answer the only truth."""

from dataclasses import replace
from datetime import timedelta

from elasticep.api.models import OperationStatus
from elasticep.api.reasons import ForeignWord, Loss, Phase
from elasticep.engine.crash_signatures import classify_text
from elasticep.plan import back_off
from elasticep.plan.actions import CreatePod
from elasticep.plan.back_off import Failure
from elasticep.plan.decision import Decision
from elasticep.plan.joiners import (
    create_joiner,
    engine_started,
    give_up,
    in_the_way,
    joiner_failure,
    make_joiner,
    standing_failure,
    wants,
)
from elasticep.plan.leader import STARTING_POLL, WAITING_POLL
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
from elasticep.plan.recovery import backing_off
from elasticep.plan.view import View
from elasticep.plan.waiting import why_waiting
from elasticep.world.engine import FAILED_PHASE, EngineState
from elasticep.world.pods import Pod

_JOINERLESS_POLL = timedelta(seconds=2)


def grow(view: View, engine: EngineState) -> Decision | None:
    """The next joiner, when ranks are missing and nothing is in flight."""
    if view.desired <= engine.effective:
        return None
    joiner = view.joiner_at(engine.effective)
    if joiner is not None and (failure := joiner_failure(joiner)):
        return give_up(view, failure, joiner)
    if back_off.holds(view):
        return backing_off(view)
    if joiner is None:
        return create_joiner(view, engine.effective)
    return _await_joiner(view, joiner) or await_quiet(view, engine) or _begin(view, engine, joiner)


def _await_joiner(view: View, joiner: Pod) -> Decision | None:
    if engine_started(joiner):
        return None
    reason = why_waiting(joiner)
    limit = None if reason.passing else reason
    return Decision(reason=reason, memory=view.memory, limit=limit, look_again=WAITING_POLL)


def _begin(view: View, engine: EngineState, joiner: Pod) -> Decision:
    operation = begin(view, from_=engine.effective, to=engine.effective + view.spec.joiner.ranks)
    return ask(
        view.remember(operation=operation), operation, why=f"joiner {joiner.name} is starting"
    )


def settle_growth(view: View, engine: EngineState, operation: OperationStatus) -> Decision | View:
    """The engine is at rest and at the old size: it has not been asked, or it has given up."""
    if operation.phase == Phase.RECORDED:
        return _request(view, engine, renew(view, operation))
    if operation.phase == Phase.ASKING_AGAIN and engine.phase != FAILED_PHASE:
        return _insist(view, engine, operation)
    return _fail(view, engine, operation)


def _request(view: View, engine: EngineState, operation: OperationStatus) -> Decision:
    """On record, and the engine is idle at the old size: it has not been asked, or not heard.

    Asking for an absolute size again is safe then: had it been accepted in between, the answer
    is 409 or 400, never a second operation.
    """
    joiner = view.joiner_at(operation.from_)
    wanted = wants(view, operation.to) and engine.effective == operation.from_
    if not wanted or joiner is None or not engine_started(joiner):
        return drop(view, operation)
    return ask(
        view.remember(operation=operation), operation, why=f"joiner {joiner.name} is starting"
    )


def _insist(view: View, engine: EngineState, operation: OperationStatus) -> Decision:
    """Ask again, for a while; the joiner is not to blame when nothing comes of it."""
    if in_vain := asked_in_vain(view, engine, operation):
        failure = Failure(reason=Loss.SCALE_UP_FAILED, message=in_vain)
        return give_up(view.without_operation(), failure, None)
    return replace(_request(view, engine, operation), look_again=STARTING_POLL)


def follow_growth(view: View, operation: OperationStatus, *, phase: str) -> Decision:
    """A growth that the engine is about, with a joiner for it as long as it is wanted."""
    if hung := end_hung(view, operation, phase=phase):
        return hung
    effective = view.engine.effective if view.engine else operation.from_
    joiner = view.joiner_at(operation.from_)
    if joiner is not None and effective < operation.to and (failed := standing_failure(joiner)):
        # No request can cancel the operation: it stays on record until the engine ends it.
        return give_up(view, failed, joiner)
    followed = follow(view, operation, phase=phase)
    if joiner is not None or effective >= operation.to:
        return followed
    if back_off.holds(view):
        # The engine waits for a joiner that would fail again; it is kept going until it gives up.
        held = backing_off(view.remember(operation=followed.memory.operation))
        return replace(held, look_again=_JOINERLESS_POLL)
    actions: tuple[CreatePod, ...] = ()
    if wants(view, operation.to) and not in_the_way(view, effective):
        actions = (make_joiner(view, effective),)
    return replace(followed, actions=actions)


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
    return give_up(view.without_operation(), failure, joiner)
