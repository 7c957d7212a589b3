"""The leader: when one is made, when it is given up, when its engine can be talked to."""

from datetime import datetime, timedelta

from elasticep.api.models import ConditionStatus, IncarnationStatus
from elasticep.api.reasons import Engine, Loss, Progress
from elasticep.plan import back_off, pods
from elasticep.plan.actions import CreatePod
from elasticep.plan.back_off import Failure
from elasticep.plan.decision import Decision, Reason
from elasticep.plan.recovery import (
    backing_off,
    begin_again,
    delete_all,
    following,
    leader_loss,
    restart,
)
from elasticep.plan.view import View
from elasticep.plan.waiting import why_waiting
from elasticep.world.engine import EngineUnknown
from elasticep.world.pods import Pod

STARTING_POLL = timedelta(seconds=1)
WAITING_POLL = timedelta(seconds=15)


def ensure_leader(view: View) -> Decision | None:
    """A living leader pod from the present template, or the step towards one."""
    if view.strays:
        return _clear_strays(view)
    if lost := leader_loss(view):
        return restart(view, lost)
    leader = view.leader
    if leader is None:
        return _begin(view)
    if not view.template_is_current and not leader.serving:
        reason = Reason(
            word=Progress.REPLACING_STALE_PODS,
            message=f"leader pod {leader.name} does not serve yet and is made again from the "
            "changed template",
        )
        return begin_again(view, reason)
    return None


def await_engine(view: View) -> Decision | None:
    """An engine that answers, or what is being waited for."""
    leader = view.leader
    if leader is None:
        message = "ensure_leader lets nothing pass but a leader"
        raise AssertionError(message)
    if view.life is None:
        reason = why_waiting(leader)
        limit = None if reason.passing else reason
        return Decision(reason=reason, memory=view.memory, limit=limit, look_again=WAITING_POLL)
    if isinstance(view.hearing.engine, EngineUnknown):
        if overdue := end_overdue(view):
            return overdue
        reason = _why_unknown(leader, view.hearing.engine)
        # One that gives no answer may be back at the next look; the others say what they lack.
        if reason.passing or reason.word is Engine.UNREACHABLE:
            return Decision(reason=reason, memory=view.memory, look_again=STARTING_POLL)
        return Decision(
            reason=reason,
            memory=view.memory,
            stalled=True,
            limit=reason,
            look_again=WAITING_POLL,
        )
    return None


def end_overdue(view: View) -> Decision | None:
    """The end of a leader that has not been Ready for longer than anything it does can take.

    While the kubelet's probe finds it ready it serves, whoever else cannot reach it.
    """
    failure = silence(view)
    return restart(view, failure) if failure else None


def silence(view: View) -> Failure | None:
    """What there is to say of a leader that has not been Ready for too long."""
    leader, container, now = view.leader, view.leader_container, view.snapshot.now
    if leader is None or leader.ready or container is None or container.started_at is None:
        return None
    operation = view.memory.operation
    if operation is not None and now > operation.deadline:
        message = f"{operation.message} passed its deadline and the leader is not Ready"
        return Failure(reason=Loss.OPERATION_OVERDUE, message=message)
    since = max(container.started_at, _unavailable_since(view) or container.started_at)
    allowed = timedelta(seconds=view.spec.engine.start_timeout_seconds)
    if now - since < allowed:
        return None
    within = f"for {allowed.total_seconds():g} s (spec.engine.startTimeoutSeconds)"
    if leader.serving:
        message = f"leader pod {leader.name} has served and is not Ready any more {within}"
        return Failure(reason=Loss.LEADER_SILENT, message=message)
    message = f"leader pod {leader.name} has run and not become Ready {within}"
    return Failure(reason=Loss.LEADER_START_OVERDUE, message=message)


def _unavailable_since(view: View) -> datetime | None:
    """Since when the record says that the group may not serve."""
    for condition in view.group.status.conditions:
        if condition.type == "Available" and condition.status is not ConditionStatus.TRUE:
            return condition.last_transition_time
    return None


def _why_unknown(leader: Pod, unknown: EngineUnknown) -> Reason:
    if unknown.reason == Engine.UNREACHABLE and not leader.ready:
        if leader.serving and leader.restarts == 0:
            # Its node may be gone: the pod then goes on to be shown as running for minutes.
            message = f"leader pod {leader.name} on {leader.node} has served and does not answer"
            return Reason(word=Progress.LEADER_NOT_ANSWERING, message=message)
        message = f"leader pod {leader.name} runs; its engine loads and does not answer yet"
        return Reason(word=Progress.LEADER_LOADING, message=message)
    return Reason(word=unknown.reason, message=f"leader pod {leader.name}: {unknown.message}")


def adopt(view: View) -> View:
    """The view with the leader pod that was found on record as the incarnation."""
    leader = view.leader
    if leader is None:
        return view
    container = view.leader_container
    return view.remember(
        incarnation=IncarnationStatus(
            id=leader.incarnation,
            serial=leader.serial,
            leader_uid=leader.uid,
            template_hash=leader.template_hash,
            started_at=container.started_at if container and container.running else None,
        )
    )


def _clear_strays(view: View) -> Decision:
    reason = Reason(
        word=Progress.REPLACING_STALE_PODS,
        message="pods of an earlier life of the engine are removed: " + _named(view.strays),
    )
    actions = delete_all(view.strays, why=reason.message)
    return Decision(reason=reason, memory=view.without_operation().memory, actions=actions)


def _begin(view: View) -> Decision:
    if back_off.holds(view):
        return backing_off(view)
    if view.leaving:
        reason = Reason(
            word=Progress.WAITING_FOR_OLD_PODS,
            message=f"waiting for pods to end: {_named(view.leaving)}",
        )
        return Decision(reason=reason, memory=view.memory, look_again=WAITING_POLL)
    return _create_leader(view)


def _create_leader(view: View) -> Decision:
    incarnation = view.memory.incarnation
    # A pod of that serial that nobody has seen alive may hold the name for ever, on a lost node.
    if incarnation is None or any(p.serial >= incarnation.serial for p in view.pods):
        incarnation = following(view)
    incarnation = incarnation.changed(template_hash=view.template_hash)
    manifest = pods.leader_pod(
        view.blueprint, incarnation=incarnation.id, serial=incarnation.serial
    )
    name = manifest["metadata"]["name"]
    reason = Reason(word=Progress.LEADER_STARTING, message=f"leader pod {name} is made")
    return Decision(
        reason=reason,
        memory=view.remember(incarnation=incarnation).memory,
        actions=(CreatePod(manifest=manifest, why="the group has no leader"),),
        look_again=WAITING_POLL,
    )


def _named(some: tuple[Pod, ...]) -> str:
    return ", ".join(pod.name for pod in some)
