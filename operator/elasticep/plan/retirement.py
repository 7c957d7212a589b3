"""How an incarnation ends in good order: no new requests, those it has finished, then its pods.

The order of the pods is the leader first, and its joiners when it is gone: a leader that is told
to end finishes the requests that it has, and needs its joiners for that.
"""

from dataclasses import replace
from datetime import timedelta

from elasticep.api import names
from elasticep.api.models import IncarnationStatus, MoveKind, RetiringStatus
from elasticep.api.reasons import Progress, Settled
from elasticep.plan.actions import Action, DeletePod, SendTraffic, StopTraffic
from elasticep.plan.decision import Decision, Reason
from elasticep.plan.incarnations import may_be_seen_to_go
from elasticep.plan.recovery import delete, following
from elasticep.plan.view import NOTHING_HEARD, View
from elasticep.world.pods import Pod

_SETTLING = timedelta(seconds=5)
"""How long every node takes at most to learn that a Service has lost an endpoint. New requests
may still come in meanwhile, so an engine without any is not known to be drained before."""

_DRAIN_POLL = timedelta(seconds=1)


def retire(
    view: View, successor: IncarnationStatus, *, kind: MoveKind, ends_first: bool, message: str
) -> View:
    """The view in which the incarnation on record gives way to ``successor``.

    Nothing is done to a pod yet: what ends an incarnation is on record first.
    """
    view = _noted(view, view.live, kind=kind, ends_first=ends_first, message=message)
    view = view.without_operation().remember(incarnation=successor, scale_down=None, joiners=())
    return replace(view, hearing=NOTHING_HEARD)


def retire_pods(view: View, pods: tuple[Pod, ...], *, message: str) -> View:
    """The view in which these pods, of incarnations that have never served, are not wanted."""
    return _noted(view, pods, kind=MoveKind.DROP, ends_first=False, message=message)


def begin_restart(view: View, kind: MoveKind, message: str) -> Decision:
    """The end of what serves, before anything takes its place."""
    view = retire(view, following(view), kind=kind, ends_first=True, message=message)
    return Decision(reason=_reason(view), memory=view.memory, look_again=_DRAIN_POLL)


def stop(view: View) -> Decision:
    """Replicas 0: every pod goes, and nobody will miss the leader when replicas are back."""
    message = "spec.replicas is 0: the group is stopped"
    if view.memory.move is not None:
        dropped = retire_pods(view, view.successor().live, message=message)
        view = dropped.remember(move=None)
    known = view.memory.incarnation
    if view.live or (known is not None and known.leader_uid is not None):
        view = retire(view, following(view), kind=MoveKind.STOP, ends_first=True, message=message)
    # What gave way to another one before is not what serves when replicas are back.
    retiring = tuple(each.changed(ends_first=True) for each in view.memory.retiring)
    memory = view.without_operation().remember(retiring=retiring).memory
    if retiring:
        reason = _reason(view.remember(retiring=retiring))
        return Decision(reason=reason, memory=memory, look_again=_DRAIN_POLL)
    left = any(may_be_seen_to_go(pod, view.snapshot.now) for pod in view.snapshot.pods)
    reason = Reason(word=Settled.STOPPED, message=message)
    return Decision(
        reason=reason, memory=memory, resting=not left, look_again=_DRAIN_POLL if left else None
    )


def _noted(
    view: View, pods: tuple[Pod, ...], *, kind: MoveKind, ends_first: bool, message: str
) -> View:
    """The view with the incarnations of these pods on record as retiring."""
    known = {each.id for each in view.memory.retiring}
    given_up = {pod.incarnation: pod.serial for pod in pods if pod.incarnation not in known}
    answering = {pod.incarnation for pod in pods if pod.serving or pod.has_served}
    added = tuple(
        RetiringStatus(
            id=id_,
            serial=serial,
            kind=kind,
            ends_first=ends_first,
            served=id_ in answering,
            message=message,
        )
        for id_, serial in sorted(given_up.items(), key=lambda item: item[1])
    )
    return view.remember(retiring=(*view.memory.retiring, *added))


def await_retirement(view: View) -> Decision | None:
    """The wait of an incarnation without pods for those that end before it begins."""
    if view.live or not any(each.ends_first for each in view.memory.retiring):
        return None
    reason = _reason(view)
    return Decision(reason=reason, memory=view.memory, look_again=_DRAIN_POLL)


def without_ended(view: View) -> View:
    """The view without the retiring incarnations whose last pod is gone."""
    left = tuple(each for each in view.memory.retiring if _has_pods(view, each))
    return view.remember(retiring=left)


def _has_pods(view: View, retiring: RetiringStatus) -> bool:
    now = view.snapshot.now
    return any(
        pod.incarnation == retiring.id and (not pod.terminating or may_be_seen_to_go(pod, now))
        for pod in view.snapshot.pods
    )


def end_retiring(view: View, decision: Decision) -> Decision:
    """The decision, with the next step towards the end of each retiring incarnation."""
    if not decision.memory.retiring:
        return decision
    view = replace(view, memory=decision.memory)
    steps = [_step(view, each) for each in decision.memory.retiring]
    waits = [wait for wait in (decision.look_again, _DRAIN_POLL) if wait is not None]
    return replace(
        decision,
        memory=replace(decision.memory, retiring=tuple(left for left, _ in steps)),
        # First: what comes after a deed that is refused is not done, perhaps at every look.
        actions=(*(action for _, actions in steps for action in actions), *decision.actions),
        draining=_reason(view),
        look_again=min(waits),
    )


_Step = tuple[RetiringStatus, tuple[Action, ...]]
"""How far an incarnation has come on its way out, and what is done next."""


def _step(view: View, retiring: RetiringStatus) -> _Step:
    now = view.snapshot.now
    pods = [p for p in view.snapshot.pods if p.incarnation == retiring.id]
    leader = next((p for p in pods if p.role == names.LEADER), None)
    if leader is None or (leader.terminating and not may_be_seen_to_go(leader, now)):
        return retiring, _end(pods, retiring)
    if leader.terminating:
        return retiring, ()
    if _is_needed(view, retiring, leader):
        again = retiring.changed(since=None, deadline=None)
        return again, _send_traffic(leader)
    return _drain(view, retiring, leader)


def _drain(view: View, retiring: RetiringStatus, leader: Pod) -> _Step:
    """The traffic goes, then time passes, then the leader's pod ends."""
    if leader.serving:
        stop = StopTraffic(pod=leader.name, uid=leader.uid, why=retiring.message)
        return retiring, (stop,)
    retiring = _timed(view, retiring)
    drained = _is_drained(view, retiring, leader)
    return retiring, (_end_leader(leader, retiring),) if drained else ()


def _timed(view: View, retiring: RetiringStatus) -> RetiringStatus:
    """The record with its times; another drainSeconds in the spec counts at once."""
    since = retiring.since or view.snapshot.now
    allowed = timedelta(seconds=view.spec.scale_down.drain_seconds)
    return retiring.changed(since=since, deadline=since + allowed)


def _is_needed(view: View, retiring: RetiringStatus, leader: Pod) -> bool:
    """Whether nothing else serves: then the old incarnation goes on until something does."""
    if retiring.ends_first or not retiring.served or not leader.ready:
        return False
    successor = view.leader
    return successor is None or not successor.ready or not successor.serving


def _is_drained(view: View, retiring: RetiringStatus, leader: Pod) -> bool:
    """Whether a leader that gets no new requests has none left, or has had its time.

    One that has served and does not say how many it has is given all of its time.
    """
    now, since = view.snapshot.now, retiring.since
    container = leader.container(names.CONTAINER)
    if not retiring.served or container is None or not container.running:
        return True
    if since is None or retiring.deadline is None or now < since + _SETTLING:
        return False
    return now >= retiring.deadline or view.snapshot.loads.get(retiring.id) == 0


def _send_traffic(leader: Pod) -> tuple[Action, ...]:
    if leader.serving:
        return ()
    return (SendTraffic(pod=leader.name, uid=leader.uid, why="nothing else serves yet"),)


def _end_leader(leader: Pod, retiring: RetiringStatus) -> DeletePod:
    """The end of a leader; one that may have requests gets the time that its pod asks for."""
    deletion = delete(leader, why=retiring.message)
    return replace(deletion, grace_seconds=None) if retiring.served else deletion


def _end(pods: list[Pod], retiring: RetiringStatus) -> tuple[Action, ...]:
    return tuple(
        delete(pod, why=retiring.message)
        for pod in sorted(pods, key=lambda pod: pod.offset)
        if not pod.terminating
    )


def _reason(view: View) -> Reason:
    """What the earlier incarnations are still about; no number in it, which would change."""
    told = [f"incarnation {each.id} ends ({each.message})" for each in view.memory.retiring]
    return Reason(word=Progress.DRAINING_INCARNATION, message="; ".join(told))
