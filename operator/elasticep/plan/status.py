"""What the group's status says. One function per condition; each one always has an answer."""

from dataclasses import dataclass
from datetime import datetime

from elasticep.api import names
from elasticep.api.models import (
    Condition,
    ConditionStatus,
    EPSizeStatus,
    GroupStatus,
    MoveKind,
)
from elasticep.api.reasons import Blocked, Settled
from elasticep.plan.decision import Decision, Memory, Reason
from elasticep.plan.joiner_status import joiner_statuses
from elasticep.plan.operation import phase_word
from elasticep.plan.view import View
from elasticep.world.engine import EngineUnknown
from elasticep.world.snapshot import Snapshot, SpecProblem

_MESSAGE_LENGTH = 1024
"""Long enough for a scheduler's words about many nodes, short enough for a table."""

_ENDINGS = (".", "!", "?")


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A condition before it has a time."""

    status: ConditionStatus
    reason: Reason


def report(view: View, decision: Decision) -> GroupStatus:
    """The status that goes with a decision."""
    memory = decision.memory
    leader = view.leader
    incarnation_pods = [p for p in view.live if leader and p.incarnation == leader.incarnation]
    return GroupStatus(
        observed_generation=view.group.generation,
        conditions=_conditions(view, decision),
        selector=names.incarnation_selector(
            view.group.name, memory.incarnation.id if memory.incarnation else "none"
        ),
        replicas=len(incarnation_pods),
        ready_replicas=sum(pod.ready for pod in incarnation_pods),
        ep_size=EPSizeStatus(
            desired=view.desired,
            effective=_effective(view),
            pending=memory.operation.to if memory.operation else None,
        ),
        incarnation=memory.incarnation,
        joiners=joiner_statuses(view),
        operation=memory.operation,
        move=memory.move,
        retiring=memory.retiring,
        scale_down=memory.scale_down,
        failures=memory.failures,
    )


def report_unreadable(snapshot: Snapshot, problem: SpecProblem) -> GroupStatus:
    """The status of a group whose spec cannot be read; what it said of the pods stays."""
    reason = Reason(word=Blocked.SPEC_INVALID, message=problem.message)
    old = snapshot.group.status
    verdicts = {
        "Ready": Verdict(status=ConditionStatus.FALSE, reason=reason),
        "Available": Verdict(status=ConditionStatus.UNKNOWN, reason=reason),
        "Reconciling": Verdict(status=ConditionStatus.FALSE, reason=reason),
        "Stalled": Verdict(status=ConditionStatus.TRUE, reason=reason),
        "ScalingUp": Verdict(status=ConditionStatus.UNKNOWN, reason=reason),
        "ScalingDown": Verdict(status=ConditionStatus.UNKNOWN, reason=reason),
        "ScaleLimited": Verdict(status=ConditionStatus.TRUE, reason=reason),
    }
    return old.changed(
        observed_generation=snapshot.group.generation, conditions=_timed(verdicts, snapshot)
    )


def _conditions(view: View, decision: Decision) -> tuple[Condition, ...]:
    verdicts = {
        "Ready": _ready(view, decision),
        "Available": _available(view, decision),
        "Reconciling": _reconciling(decision),
        "Stalled": _stalled(decision),
        "ScalingUp": _scaling_up(view, decision),
        "ScalingDown": _scaling_down(decision),
        "ScaleLimited": _scale_limited(decision),
    }
    return _timed(verdicts, view.snapshot)


def _ready(view: View, decision: Decision) -> Verdict:
    """Serving with the wanted size, from this generation's template."""
    if view.spec.replicas == 0 and _is_stopped(view, decision):
        return Verdict(status=ConditionStatus.TRUE, reason=decision.reason)
    wanted = view.leader_serves and _effective(view) == view.desired
    idle = decision.resting and not decision.withheld and decision.memory.operation is None
    if wanted and view.template_is_current and idle and decision.limit is None:
        return Verdict(status=ConditionStatus.TRUE, reason=decision.reason)
    return Verdict(status=ConditionStatus.FALSE, reason=decision.reason)


def _is_stopped(view: View, decision: Decision) -> bool:
    """Whether nothing is left of a group that is to have no pods."""
    left = decision.memory.retiring or view.snapshot.pods
    return decision.resting and not decision.withheld and not left


def _available(view: View, decision: Decision) -> Verdict:
    """A leader serves, at whatever size."""
    engine = view.hearing.engine
    if view.leader_serves:
        message = f"serving with EP size {_effective(view)}"
        return Verdict(
            status=ConditionStatus.TRUE, reason=Reason(word=Settled.SERVING, message=message)
        )
    if serves := _still_serving(view, decision.memory):
        message = f"{serves} serves until its successor does"
        return Verdict(
            status=ConditionStatus.TRUE, reason=Reason(word=Settled.SERVING, message=message)
        )
    if view.leader is not None and view.leader.ready and isinstance(engine, EngineUnknown):
        reason = Reason(word=engine.reason, message=engine.message)
        return Verdict(status=ConditionStatus.UNKNOWN, reason=reason)
    return Verdict(status=ConditionStatus.FALSE, reason=decision.reason)


def _still_serving(view: View, memory: Memory) -> str:
    """The leader pod of a retiring incarnation that gets requests, if there is one."""
    retiring = {each.id for each in memory.retiring if not each.ends_first}
    leaders = (
        pod.name
        for pod in view.snapshot.pods
        if pod.incarnation in retiring and pod.serving and pod.ready and not pod.terminating
    )
    return next(leaders, "")


def _reconciling(decision: Decision) -> Verdict:
    if decision.draining is not None:
        return Verdict(status=ConditionStatus.TRUE, reason=decision.draining)
    if decision.resting or decision.stalled:
        reason = Reason(word=Settled.NOTHING_TO_DO, message="no change is in progress")
        return Verdict(status=ConditionStatus.FALSE, reason=reason)
    return Verdict(status=ConditionStatus.TRUE, reason=decision.reason)


def _stalled(decision: Decision) -> Verdict:
    if decision.stalled:
        return Verdict(status=ConditionStatus.TRUE, reason=decision.reason)
    reason = Reason(word=Settled.NOT_STALLED, message="the operator has not given up")
    return Verdict(status=ConditionStatus.FALSE, reason=reason)


def _scaling_up(view: View, decision: Decision) -> Verdict:
    operation = decision.memory.operation
    if operation is not None and operation.kind == "Grow":
        reason = Reason(word=phase_word(operation.phase), message=operation.message)
        return Verdict(status=ConditionStatus.TRUE, reason=reason)
    effective = _effective(view)
    short = view.leader_serves and effective is not None and effective < view.desired
    if short and not decision.resting:
        return Verdict(status=ConditionStatus.TRUE, reason=decision.reason)
    reason = Reason(word=Settled.NOT_SCALING_UP, message="no ranks are being added")
    return Verdict(status=ConditionStatus.FALSE, reason=reason)


def _scaling_down(decision: Decision) -> Verdict:
    memory = decision.memory
    operation = memory.operation
    if operation is not None and operation.kind == "Shrink":
        reason = Reason(word=phase_word(operation.phase), message=operation.message)
        return Verdict(status=ConditionStatus.TRUE, reason=reason)
    if decision.draining is not None and _ends(memory, MoveKind.SCALE_DOWN):
        return Verdict(status=ConditionStatus.TRUE, reason=decision.draining)
    if memory.scale_down is not None and not decision.resting:
        return Verdict(status=ConditionStatus.TRUE, reason=decision.reason)
    reason = Reason(word=Settled.NOT_SCALING_DOWN, message="no ranks are being removed")
    return Verdict(status=ConditionStatus.FALSE, reason=reason)


def _ends(memory: Memory, kind: MoveKind) -> bool:
    return any(each.kind is kind for each in memory.retiring)


def _scale_limited(decision: Decision) -> Verdict:
    if decision.limit is not None:
        return Verdict(status=ConditionStatus.TRUE, reason=decision.limit)
    reason = Reason(word=Settled.SIZE_REACHABLE, message="nothing is known to keep the size away")
    return Verdict(status=ConditionStatus.FALSE, reason=reason)


def _timed(verdicts: dict[str, Verdict], snapshot: Snapshot) -> tuple[Condition, ...]:
    """The conditions with their times: one changes only when the condition's status does."""
    before = {condition.type: condition for condition in snapshot.group.status.conditions}
    return tuple(
        Condition(
            type=kind,
            status=verdict.status,
            reason=verdict.reason.word,
            message=_sentences(verdict.reason),
            observed_generation=snapshot.group.generation,
            last_transition_time=_since(before.get(kind), verdict, snapshot.now),
        )
        for kind, verdict in verdicts.items()
    )


def _sentences(reason: Reason) -> str:
    """What is wrong, shortened if it must be, and then what to do, in full."""
    if not reason.remedy:
        return reason.message[:_MESSAGE_LENGTH]
    room = _MESSAGE_LENGTH - len(reason.remedy) - len("…. ")
    what = reason.message if len(reason.message) <= room else f"{reason.message[:room]}…"
    return f"{what}{'' if what.endswith(_ENDINGS) else '.'} {reason.remedy}"


def _since(before: Condition | None, verdict: Verdict, now: datetime) -> datetime:
    if before is not None and before.status == verdict.status:
        return before.last_transition_time
    return now.replace(microsecond=0)


def _effective(view: View) -> int | None:
    """How many ranks serve; nothing when a leader that should answer does not."""
    if view.engine is not None:
        return view.engine.effective
    return None if view.leader is not None and view.leader.ready else 0
