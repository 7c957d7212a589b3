"""How an incarnation ends, and when the next one may begin."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from elasticep.api import names
from elasticep.api.models import IncarnationStatus, JoinerState
from elasticep.api.reasons import AnyWord, ForeignWord, Loss, Node, word
from elasticep.engine.crash_signatures import RECOVERY_UNSUPPORTED, classify_text
from elasticep.plan import back_off, incarnations
from elasticep.plan.actions import DeletePod
from elasticep.plan.back_off import Failure
from elasticep.plan.crash_loop import diagnose, root_cause
from elasticep.plan.decision import Decision, Reason
from elasticep.plan.view import View
from elasticep.world.engine import FINAL_PHASES, EngineState
from elasticep.world.pods import Pod

_SHORT_GRACE_SECONDS = 10
"""For pods that answer nobody. Joiners, and leaders that load, install no SIGTERM handler, so as
PID 1 they ignore the signal: a longer grace period only keeps their GPUs from others."""


def leader_loss(view: View) -> Failure | None:
    """Why the leader will not serve again in this life, if that is known."""
    leader, incarnation = view.leader, view.memory.incarnation
    if leader is None:
        if incarnation is None or incarnation.leader_uid is None:
            return None
        message = f"leader pod {names.leader_pod(view.group.name, incarnation.id)} is gone"
        return Failure(reason=Loss.LEADER_LOST, message=message)
    if leader.dead:
        return ended(leader)
    crash = diagnose(leader)
    return crash.failure if crash else None


def rank_loss(view: View) -> Failure | None:
    """The loss of ranks that had joined, if there is one: this life cannot get them back.

    After one growth the engine cannot take a lost rank back, whatever its HTTP server says
    (sglang: "rank recovery is unsupported after runtime scale-up").
    """
    engine = view.engine
    if engine is None:
        return None
    for offset in _joined_offsets(view, engine):
        joiner = view.joiner_at(offset)
        if joiner is None or joiner.dead or _was_restarted(view, joiner):
            message = (
                f"the ranks from {offset} on were lost while the engine counted "
                f"{engine.effective}; this life of the engine cannot get them back"
            )
            return _loss(view, Loss.RANK_LOST, message)
    unsupported = classify_text(engine.last_error) is RECOVERY_UNSUPPORTED
    if engine.phase in FINAL_PHASES or unsupported:
        words = engine.last_error or f"scale phase {engine.phase}"
        return _loss(view, ForeignWord(RECOVERY_UNSUPPORTED.reason), words)
    return None


def _joined_offsets(view: View, engine: EngineState) -> Iterable[int]:
    """Where joiners must stand for the size that the engine counts.

    Once spec has changed it may speak of other sizes than the pods were made with: then the
    record of those that have joined is what is left.
    """
    if view.template_is_current:
        return range(view.spec.leader.ranks, engine.effective, view.spec.joiner.ranks)
    return (
        joiner.offset
        for joiner in view.memory.joiners
        if joiner.state is JoinerState.JOINED and joiner.offset < engine.effective
    )


def lost_joiners(view: View) -> tuple[Pod, ...]:
    """The joiners that had joined and whose engine has ended: no life of it has their ranks."""
    return tuple(
        pod
        for pod in view.joiners
        if view.has_joined(pod) and (pod.dead or _was_restarted(view, pod))
    )


def _was_restarted(view: View, joiner: Pod) -> bool:
    """Whether a joiner's engine has begun another life since it joined."""
    known = view.record_of(joiner)
    return view.has_joined(joiner) and known is not None and joiner.restarts > known.restarts


def _loss(view: View, word: AnyWord, message: str) -> Failure:
    """A loss, with the earliest end of a container as its evidence."""
    cause = root_cause(view.pods)
    if cause is None:
        return Failure(reason=word, message=message)
    return replace(
        cause.failure, reason=word, message=f"{message}. First, {cause.message}", lasting=False
    )


def restart(view: View, failure: Failure) -> Decision:
    """End this incarnation and, after a back-off, begin the next one.

    The failure is on record before any pod goes, with what its containers said.
    """
    counted = back_off.count_failure(view, failure)
    view = view.without_operation().remember(
        failures=counted, incarnation=following(view), scale_down=None
    )
    return replace(backing_off(view), actions=delete_all(view.live, why=failure.message))


def begin_again(view: View, reason: Reason) -> Decision:
    """End an incarnation that has never served, and begin the next one: nothing has failed."""
    memory = view.without_operation().remember(incarnation=following(view)).memory
    return Decision(reason=reason, memory=memory, actions=delete_all(view.live, why=reason.message))


def backing_off(view: View) -> Decision:
    """The wait, or the stop, that the last failure asks for."""
    failure = view.memory.failures
    if failure is None:
        message = "nothing has failed that could be waited for"
        raise ValueError(message)
    reason = Reason(word=word(failure.reason), message=failure.message, advice=failure.advice)
    if failure.next_retry_at is None:
        return Decision(reason=reason, memory=view.memory, stalled=True, limit=reason)
    again = f"Try {failure.count + 1} is at {failure.next_retry_at:%H:%M:%S} UTC."
    reason = replace(reason, advice=f"{failure.advice} {again}".strip())
    wait = max(failure.next_retry_at - view.snapshot.now, timedelta())
    return Decision(reason=reason, memory=view.memory, limit=reason, look_again=wait)


def ended(pod: Pod) -> Failure:
    """A pod that its kubelet gave up: evicted, preempted, refused at the node, or lost."""
    if pod.reason.startswith("OutOf"):
        # OutOfcpu, OutOfnvidia.com/gpu: no word that a condition could have as its reason.
        reason: AnyWord = Node.OUT_OF_RESOURCES
    else:
        reason = word(pod.reason) if pod.reason else Loss.POD_FAILED
    return Failure(
        reason=reason,
        message=f"{pod.role} pod {pod.name} ended: {pod.message or pod.phase}",
    )


def following(view: View) -> IncarnationStatus:
    """The incarnation after every one that is known of; it has no pod yet."""
    return incarnations.next_incarnation(
        view.group.uid, view.snapshot.pods, view.memory, template_hash=view.template_hash
    )


def delete_all(doomed: tuple[Pod, ...], *, why: str) -> tuple[DeletePod, ...]:
    """The end of these pods, the leader first: without it no request reaches a dying world."""
    ordered = sorted(doomed, key=lambda pod: (pod.role != names.LEADER, pod.offset))
    return tuple(delete(pod, why=why) for pod in ordered)


def delete(pod: Pod, *, why: str) -> DeletePod:
    """The end of one pod; a leader that may still have requests gets the time that it asks for."""
    answers = pod.role == names.LEADER and (pod.serving or pod.ready)
    grace = None if answers else _SHORT_GRACE_SECONDS
    return DeletePod(name=pod.name, uid=pod.uid, grace_seconds=grace, why=why)
