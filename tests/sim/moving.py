"""What must hold while one incarnation gives way to another: traffic, the order of ends, time."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.sim.api_server import ApiServer
from tests.sim.decisions import operations
from tests.sim.pods import LEARNS_WITHIN, SimPod
from tests.sim.switching import judge_lateness, judge_switch, judge_traffic
from tests.sim.wellformed import insist

from elasticep.api import names
from elasticep.api.models import GroupSpec, GroupStatus, MoveKind, RetiringStatus
from elasticep.plan.decision import Plan
from elasticep.world.snapshot import Snapshot

OVERDUE_AFTER = timedelta(seconds=15)
"""How long past its grace period a pod is waited for."""


@dataclass(eq=False, kw_only=True)
class Moving:
    """The watch over the moves of one story."""

    api: ApiServer
    asked: list[tuple[datetime, int]] = field(default_factory=list)
    """The sizes that were asked for, as they went on record."""
    given_up: set[str] = field(default_factory=set)
    """Every incarnation that was on record and gave way to another one."""
    served: set[str] = field(default_factory=set)
    """Every incarnation that has ever had traffic."""

    def thought(self, snapshot: Snapshot, planned: Plan) -> None:
        """A plan was made."""
        old, new = snapshot.group.status, planned.status
        coming = old.move.successor.id if old.move is not None else None
        stops = isinstance(snapshot.group.spec, GroupSpec) and snapshot.group.spec.replicas == 0
        if new.incarnation is not None and new.incarnation.id == coming and not stops:
            ended = {each.id for each in new.retiring}
            if old.incarnation is not None and old.incarnation.id in ended:
                judge_switch(snapshot)
            else:
                insist(not self._is_well(old), "a leader that serves is not taken for lost")
        if not snapshot.refusals:
            judge_traffic(snapshot, planned)
            judge_lateness(snapshot, planned)

    def _is_well(self, status: GroupStatus) -> bool:
        assert status.incarnation is not None
        leader = self._leader(status.incarnation.id)
        serves = leader is not None and leader.serving and leader.ready and not leader.terminating
        return serves and leader is not None and leader.leader is not None and leader.leader.whole

    def recorded(self, snapshot: Snapshot, new: GroupStatus) -> None:
        """A status was written."""
        old, spec, now = snapshot.group.status, snapshot.group.spec, snapshot.now
        if not isinstance(spec, GroupSpec):
            return
        self.asked.append((now, new.ep_size.desired))
        if _shrinks(new) - _shrinks(old):
            self._judge_patience(now, spec)
        self._judge_give_up(old, new)
        self._judge_drains(old, new, spec)
        _judge_operations(old, new)

    def _judge_patience(self, now: datetime, spec: GroupSpec) -> None:
        since = now
        for at, size in reversed(self.asked):
            if size > self.asked[-1][1]:
                break
            since = at
        wait = timedelta(seconds=spec.scale_down.stabilization_seconds)
        insist(now - since >= wait, f"a smaller size is waited with for {wait}, not {now - since}")

    def _judge_give_up(self, old: GroupStatus, new: GroupStatus) -> None:
        """What has served ends in good order, or for a failure."""
        before, after = old.incarnation, new.incarnation
        if before is None or after is None or before.id == after.id:
            return
        self.given_up.add(before.id)
        ends_well = before.id in {each.id for each in new.retiring}
        failed = new.failures is not None and new.failures != old.failures
        excused = ends_well or failed or before.id not in self.served or not self._is_well(old)
        insist(excused, f"incarnation {before.id} is not ended without a reason")

    def _judge_drains(self, old: GroupStatus, new: GroupStatus, spec: GroupSpec) -> None:
        begun = {each.id for each in old.retiring if each.since is not None}
        for each in new.retiring:
            if each.since is None or each.id in begun:
                continue
            leader = self._leader(each.id)
            served = leader is not None and leader.serving
            insist(not served, "a drain begins when the traffic is off")
            allowed = timedelta(seconds=spec.scale_down.drain_seconds)
            insist(each.deadline == each.since + allowed, f"a drain takes up to {allowed}")

    def may_create_leader(self, incarnation: str) -> None:
        """A leader pod is about to be made."""
        status, now = self.api.status, self.api.now
        retiring = {each.id: each for each in status.retiring}
        first = {each.id for each in status.retiring if each.ends_first}
        waits = [p.name for p in self.api.pods.values() if p.incarnation in first and _ends(p, now)]
        insist(not waits, f"nothing begins before these have ended: {waits}")
        others = [
            pod
            for pod in self.api.pods.values()
            if not pod.terminating and pod.incarnation not in {*retiring, incarnation}
        ]
        move = status.move
        if move is not None and move.successor.id == incarnation:
            others = [pod for pod in others if pod.serial > move.after]
        insist(not others, f"no leader is made beside {[pod.name for pod in others]}")

    def may_send(self, pod: SimPod) -> None:
        """A leader is about to get traffic."""
        status, mine = self.api.status, pod.incarnation
        if status.incarnation is None:
            return  # Somebody has wiped it since.
        retiring = next((each for each in status.retiring if each.id == mine), None)
        on_record = status.incarnation is not None and status.incarnation.id == mine
        still = retiring is not None and not retiring.ends_first
        insist(pod.role == names.LEADER, "traffic goes to leaders only")
        insist(on_record or still, f"traffic goes to what is on record, not to {mine}")
        templates = {p.template_hash for p in self.api.pods.values() if p.incarnation == mine}
        insist(templates == {pod.template_hash}, "no incarnation of two templates serves")
        self.served.add(mine)

    def may_stop(self, pod: SimPod, snapshot: Snapshot) -> None:
        """A leader is about to be taken out of the Service."""
        retiring = self._retiring(pod)
        insist(retiring is not None, "traffic is taken only from what is to end")
        assert retiring is not None
        spec = snapshot.group.spec
        stops = isinstance(spec, GroupSpec) and spec.replicas == 0
        if stops or retiring.ends_first or not (pod.ready and pod.leader and pod.leader.healthy):
            return
        record = self.api.status.incarnation
        others = [
            other
            for other in snapshot.pods
            if record is not None and other.incarnation == record.id
            if other.serving and other.ready and not other.terminating
        ]
        insist(bool(others), f"{pod.name} is not left before another one serves")

    def may_end(self, pod: SimPod, retiring: RetiringStatus) -> None:
        """A pod of a retiring incarnation is about to be deleted."""
        leader = self._leader(retiring.id)
        if pod.role == names.JOINER:
            there = leader is not None and _ends(leader, self.api.now)
            insist(not there, f"{pod.name} stays until its leader is gone")
            return
        process = pod.leader
        if process is None or not process.healthy or not pod.ready or pod.lost:
            return
        if retiring.id not in self.served:
            return
        insist(not pod.serving, f"{pod.name} has no traffic any more when it ends")
        late = retiring.deadline is not None and self.api.now >= retiring.deadline
        left = process.requests.unanswered(self.api.now)
        insist(late or not left, f"{pod.name} answers {left} requests before it ends")
        known = pod.traffic_left_at
        settled = known is None or self.api.now >= known + LEARNS_WITHIN
        insist(late or settled, f"{pod.name} is not ended while a node may send it a request")

    def _retiring(self, pod: SimPod) -> RetiringStatus | None:
        return retiring_of(self.api.status, pod)

    def _leader(self, incarnation: str) -> SimPod | None:
        for pod in self.api.pods.values():
            if pod.role == names.LEADER and pod.incarnation == incarnation:
                return pod
        return None

    def judge_service(self) -> None:
        """One leader has the traffic; while it goes over, and a failed one is left, two."""
        serving = [p for p in self.api.pods.values() if p.serving and not p.terminating]
        insist(len(serving) <= 2, f"at most two leaders have traffic: {serving}")


def retiring_of(status: GroupStatus, pod: SimPod) -> RetiringStatus | None:
    """What is on record about the end of a pod's incarnation, if anything."""
    return next((each for each in status.retiring if each.id == pod.incarnation), None)


def _shrinks(status: GroupStatus) -> set[str]:
    """What is under way to fewer ranks, each by a name of its own."""
    begun = {each.id for each in status.retiring if each.kind is MoveKind.SCALE_DOWN}
    move, operation = status.move, status.operation
    if move is not None and move.kind is MoveKind.SCALE_DOWN and status.incarnation is not None:
        begun.add(status.incarnation.id)
    # One that is found at work was asked for by somebody else.
    ours = operation is not None and operation.kind == "Shrink" and operation.phase == "Recorded"
    if ours and operation is not None and status.incarnation is not None:
        begun.add(f"{status.incarnation.id} to {operation.to}")
    return begun


def _judge_operations(old: GroupStatus, new: GroupStatus) -> None:
    """A new incarnation keeps nothing of the life that ended."""
    known = {incarnation for incarnation, _ in operations(old)}
    if not known:
        return  # A leader that was found, and may be at work.
    for incarnation, operation in operations(new):
        kept = incarnation not in known and operation is not None
        insist(not kept, f"{incarnation} has an operation of an earlier life: {operation}")


def _ends(pod: SimPod, now: datetime) -> bool:
    """Whether a pod is there, and if it is being deleted is not overdue."""
    return pod.gone_by is None or now < pod.gone_by + OVERDUE_AFTER
