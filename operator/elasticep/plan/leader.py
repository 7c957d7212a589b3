"""The leader: when one is made, when it is given up, when its engine can be talked to."""

from dataclasses import replace
from datetime import timedelta

from elasticep.api import names
from elasticep.api.models import IncarnationStatus, JoinerState
from elasticep.plan import back_off, pods
from elasticep.plan.actions import CreatePod, DeletePod
from elasticep.plan.back_off import Failure
from elasticep.plan.crash_loop import diagnose
from elasticep.plan.decision import Decision, Reason
from elasticep.plan.view import View
from elasticep.plan.waiting import why_waiting
from elasticep.world.engine import FINAL_PHASES, EngineUnknown
from elasticep.world.pods import Pod, restarts

STARTING_POLL = timedelta(seconds=1)
WAITING_POLL = timedelta(seconds=15)
_OVERDUE_AFTER = timedelta(seconds=15)
"""How long past its grace period a pod that is being deleted still holds up its successor.
A pod on a lost node never goes by itself."""


def ensure_leader(view: View) -> Decision | None:
    """A living leader pod from the present template, or the step towards one."""
    if view.strays:
        return _clear_strays(view)
    leader = view.leader
    if leader is None:
        return _replace_lost_leader(view)
    view = adopt(view)
    if leader.dead:
        return restart(view, ended(leader))
    if crash := diagnose(leader):
        return restart(view, crash.failure)
    if leader.template_hash != view.template_hash and not leader.serving:
        return _replace_unborn(view, leader)
    return None


def await_engine(view: View) -> Decision | None:
    """An engine that answers, or what is being waited for."""
    leader = view.leader
    if leader is None or view.leader_container is None or view.life is None:
        reason = why_waiting(leader) if leader else Reason(word="LeaderPending", message="")
        limit = reason if reason.word == "Unschedulable" else None
        return Decision(reason=reason, memory=view.memory, limit=limit, look_again=WAITING_POLL)
    if isinstance(view.snapshot.engine, EngineUnknown):
        if overdue := _overdue(view, leader):
            return restart(view, overdue)
        return Decision(
            reason=_why_unknown(leader, view.snapshot.engine),
            memory=view.memory,
            look_again=STARTING_POLL,
        )
    return None


def _overdue(view: View, leader: Pod) -> Failure | None:
    """An engine that has been silent for longer than anything it does can take."""
    operation, container = view.memory.operation, view.leader_container
    if operation is not None and view.snapshot.now > operation.deadline:
        message = f"{operation.message} passed its deadline and the engine does not answer"
        return Failure(reason="OperationOverdue", message=message)
    if leader.ready or leader.serving or container is None or container.started_at is None:
        return None
    allowed = timedelta(seconds=view.spec.engine.start_timeout_seconds)
    if view.snapshot.now - container.started_at < allowed:
        return None
    message = (
        f"leader pod {leader.name} has not begun to serve within {allowed.total_seconds():g} s "
        "(spec.engine.startTimeoutSeconds)"
    )
    return Failure(reason="LeaderStartOverdue", message=message)


def _why_unknown(leader: Pod, unknown: EngineUnknown) -> Reason:
    if unknown.reason == "EngineUnreachable" and not leader.ready:
        message = f"leader pod {leader.name} runs; its engine loads and does not answer yet"
        return Reason(word="LeaderLoading", message=message)
    return Reason(word=unknown.reason, message=unknown.message)


def detect_loss(view: View) -> Decision | None:
    """Nothing, unless ranks that have joined are gone: then the group starts again.

    After one growth the engine cannot take a lost rank back, whatever its HTTP server says
    (sglang: "rank recovery is unsupported after runtime scale-up").
    """
    engine = view.engine
    if engine is None:
        return None
    offset = view.spec.leader.ranks
    while offset < engine.effective:
        joiner = view.joiner_at(offset)
        if joiner is None or joiner.dead or _was_restarted(view, joiner):
            message = (
                f"the ranks from {offset} on were lost while the engine counted "
                f"{engine.effective}; ranks that have joined cannot be replaced one by one"
            )
            return restart(view, Failure(reason="RankLost", message=message))
        offset += view.spec.joiner.ranks
    if engine.phase in FINAL_PHASES or "rank recovery is unsupported" in engine.last_error:
        words = engine.last_error or f"scale phase {engine.phase}"
        return restart(view, Failure(reason="RecoveryUnsupported", message=words))
    return None


def _was_restarted(view: View, joiner: Pod) -> bool:
    """Whether a joiner's engine has begun another life since it joined."""
    known = next((j for j in view.group.status.joiners if j.uid == joiner.uid), None)
    joined = known is not None and known.state is JoinerState.JOINED
    return joined and known is not None and restarts(joiner) > known.restarts


def restart(view: View, failure: Failure) -> Decision:
    """End this incarnation and, after a back-off, begin the next one.

    The failure is on record before any pod goes, with what its containers said.
    """
    counted = back_off.count_failure(view, failure)
    view = view.without_operation().remember(failures=counted, incarnation=_successor(view))
    return replace(backing_off(view), actions=_delete_all(view.live, why=failure.message))


def ended(pod: Pod) -> Failure:
    """A pod that its kubelet gave up: evicted, preempted, refused at the node, or lost."""
    return Failure(
        reason=pod.reason or "PodFailed",
        message=f"{pod.role} pod {pod.name} ended: {pod.message or pod.phase}",
    )


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


def stop(view: View) -> Decision:
    """Replicas 0: no pod is left."""
    view = view.without_operation()
    reason = Reason(word="Stopped", message="spec.replicas is 0: the group is stopped")
    if view.live:
        actions = _delete_all(view.live, why=reason.message)
        return Decision(reason=reason, memory=view.memory, actions=actions)
    return Decision(reason=reason, memory=view.memory, resting=not view.snapshot.pods)


def _clear_strays(view: View) -> Decision:
    reason = Reason(
        word="ReplacingStalePods",
        message="pods of an earlier life of the engine are removed: " + _named(view.strays),
    )
    actions = _delete_all(view.strays, why=reason.message)
    return Decision(reason=reason, memory=view.without_operation().memory, actions=actions)


def _replace_lost_leader(view: View) -> Decision:
    incarnation = view.memory.incarnation
    if incarnation is not None and incarnation.leader_uid is not None:
        message = f"leader pod {names.leader_pod(view.group.name, incarnation.id)} is gone"
        return restart(view, Failure(reason="LeaderLost", message=message))
    if back_off.holds(view):
        return backing_off(view)
    if leaving := _still_leaving(view):
        reason = Reason(
            word="WaitingForOldPods", message=f"waiting for pods to end: {_named(leaving)}"
        )
        return Decision(reason=reason, memory=view.memory, look_again=WAITING_POLL)
    return _create_leader(view)


def backing_off(view: View) -> Decision:
    """The wait, or the stop, that the last failure asks for."""
    failure = view.memory.failures
    if failure is None:
        message = "nothing has failed that could be waited for"
        raise ValueError(message)
    words = " ".join(part for part in (failure.message, failure.advice) if part)
    if failure.next_retry_at is None:
        reason = Reason(word=failure.reason, message=words)
        return Decision(reason=reason, memory=view.memory, stalled=True, limit=reason)
    again = f"try {failure.count + 1} at {failure.next_retry_at:%H:%M:%S} UTC"
    reason = Reason(word=failure.reason, message=f"{words} ({again})")
    wait = max(failure.next_retry_at - view.snapshot.now, timedelta())
    return Decision(reason=reason, memory=view.memory, limit=reason, look_again=wait)


def _create_leader(view: View) -> Decision:
    incarnation = view.memory.incarnation or _successor(view)
    incarnation = incarnation.model_copy(update={"template_hash": view.template_hash})
    manifest = pods.leader_pod(
        view.blueprint, incarnation=incarnation.id, serial=incarnation.serial
    )
    name = manifest["metadata"]["name"]
    reason = Reason(word="LeaderStarting", message=f"leader pod {name} is made")
    return Decision(
        reason=reason,
        memory=view.remember(incarnation=incarnation).memory,
        actions=(CreatePod(manifest=manifest, why="the group has no leader"),),
        look_again=WAITING_POLL,
    )


def _replace_unborn(view: View, leader: Pod) -> Decision:
    reason = Reason(
        word="TemplateChanged",
        message=f"leader pod {leader.name} does not serve yet and is made again from the "
        "changed template",
    )
    memory = view.without_operation().remember(incarnation=_successor(view)).memory
    return Decision(
        reason=reason, memory=memory, actions=_delete_all(view.live, why=reason.message)
    )


def _successor(view: View) -> IncarnationStatus:
    """The incarnation after every one that is known of; it has no pod yet."""
    known = view.memory.incarnation
    serials = [pod.serial for pod in view.snapshot.pods]
    serial = max([*serials, known.serial if known else 0]) + 1
    return IncarnationStatus(
        id=names.incarnation_id(view.group.uid, serial),
        serial=serial,
        template_hash=view.template_hash,
    )


def _still_leaving(view: View) -> tuple[Pod, ...]:
    now = view.snapshot.now
    return tuple(
        pod
        for pod in view.snapshot.pods
        if pod.gone_by is not None and now < pod.gone_by + _OVERDUE_AFTER
    )


def _delete_all(doomed: tuple[Pod, ...], *, why: str) -> tuple[DeletePod, ...]:
    ordered = sorted(doomed, key=lambda pod: (pod.role != names.LEADER, pod.offset))
    return tuple(DeletePod(name=pod.name, uid=pod.uid, why=why) for pod in ordered)


def _named(some: tuple[Pod, ...]) -> str:
    return ", ".join(pod.name for pod in some)
