"""What must hold at every decision and at every effect, whatever happens around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tests.sim.api_server import ApiServer
from tests.sim.decisions import (
    comes_to_rest,
    judge_joiner,
    judge_joining,
    judge_request,
    operations,
)
from tests.sim.kubelet import Nodes
from tests.sim.moving import Moving, retiring_of
from tests.sim.pods import SimPod
from tests.sim.wellformed import insist, judge_status

from elasticep.api import names
from elasticep.api.models import GroupSpec, GroupStatus
from elasticep.plan.actions import RequestScale
from elasticep.plan.decision import Plan
from elasticep.plan.planner import plan
from elasticep.world.snapshot import Snapshot

STABLE = timedelta(minutes=10)
FIRST_DELAY = timedelta(seconds=10)
LONGEST_DELAY = timedelta(minutes=10)
OVERDUE = {
    "OperationOverdue",
    "LeaderStartOverdue",
    "LeaderSilent",
    "ProgressDeadlineExceeded",
}
NEVER_BEGAN = "did not begin"
"""Failures for which nothing needs to have gone wrong but that nothing happened."""


@dataclass(kw_only=True)
class Row:
    """Pods that were made again and again without anybody's asking."""

    made_at: datetime
    wish: tuple[int, str]
    """The generation and the resume annotation that they were made for."""
    again: int = 0


@dataclass(eq=False, kw_only=True)
class Laws:
    """The watch over one story."""

    api: ApiServer
    nodes: Nodes
    faults: int = 0
    """What may be counted as a failure, beside the exits and the engines' own failures."""
    counted: int = 0
    """The failures that were put on record."""
    broken: bool = False
    serial: int = 0
    rows: dict[tuple[str, ...], Row] = field(default_factory=dict)
    moving: Moving = field(init=False)

    def __post_init__(self) -> None:
        """The moves have laws of their own."""
        self.moving = Moving(api=self.api)

    def watched(self, act: Callable[[], Any]) -> Any:
        """What ``act`` returns; that it has failed is remembered."""
        try:
            return act()
        except BaseException:
            self.broken = True
            raise

    def think(self, snapshot: Snapshot) -> Plan:
        """The plan for a snapshot, when it is a lawful one."""
        return self.watched(lambda: self._think(snapshot))  # type: ignore[no-any-return]

    def _think(self, snapshot: Snapshot) -> Plan:
        planned = plan(snapshot)
        if snapshot.group.deleting:
            insist(not planned.actions, "nothing is done for a group that is deleted")
            insist(planned.status == snapshot.group.status, "nor is its status written")
            return planned
        judge_status(snapshot, planned.status)
        spec = snapshot.group.spec
        if not isinstance(spec, GroupSpec) or spec.paused:
            insist(not planned.actions, "nothing is done while paused, or not knowing what")
        judge_joining(snapshot, planned)
        self.moving.thought(snapshot, planned)
        for action in planned.actions:
            if isinstance(action, RequestScale):
                judge_request(action, snapshot, planned)
        if not snapshot.refusals:
            comes_to_rest(snapshot, planned)
        return planned

    def recorded(self, snapshot: Snapshot, new: GroupStatus) -> None:
        """A status was written."""
        self.watched(lambda: self._recorded(snapshot, new))

    def _recorded(self, snapshot: Snapshot, new: GroupStatus) -> None:
        old = snapshot.group.status
        self.moving.recorded(snapshot, new)
        if new.incarnation is not None:
            serial = new.incarnation.serial
            insist(serial >= self.serial, f"incarnation {serial} comes after {self.serial}")
            self.serial = serial
        failure = new.failures
        if failure is None or failure.reason in OVERDUE or NEVER_BEGAN in failure.message:
            return
        if _is_told_again(old, new, snapshot):
            return
        if old.failures is None or old.failures.last_failure_at != failure.last_failure_at:
            self.counted += 1
            insist(
                self.counted <= self.faults + self.nodes.failures,
                f"failure {self.counted}, {failure.reason}, is one that has happened",
            )

    def refused(self) -> None:
        """Somebody has refused an action."""
        self.faults += 1

    def forgiven(self) -> None:
        """Somebody did by hand what pods may be made again for at once."""
        self.rows.clear()

    def forgotten(self) -> None:
        """What was on record is lost: it may be counted again, from the beginning."""
        self.serial = 0
        self.moving.asked.clear()
        self.faults += self.counted + 1
        self.rows.clear()

    def may_create(self, manifest: Mapping[str, Any], snapshot: Snapshot) -> None:
        """A pod is about to be made."""
        self.watched(lambda: self._may_create(manifest, snapshot))

    def _may_create(self, manifest: Mapping[str, Any], snapshot: Snapshot) -> None:
        labels = manifest["metadata"]["labels"]
        life = manifest["metadata"]["annotations"].get(names.ANNOTATION_LEADER_LIFE, "")
        if labels[names.LABEL_ROLE] == names.LEADER:
            self.moving.may_create_leader(labels[names.LABEL_INCARNATION])
        else:
            judge_joiner(labels, life, snapshot)
        if manifest["metadata"]["name"] not in self.api.pods and not self.api.quota_spent:
            wish = (snapshot.group.generation, snapshot.group.resume)
            self._judge_pace((life, labels.get(names.LABEL_OFFSET, "leader")), wish)

    def _judge_pace(self, which: tuple[str, ...], wish: tuple[int, str]) -> None:
        row = self.rows.get(which)
        now = self.api.now
        if row is None or now - row.made_at > STABLE or row.wish != wish:
            self.rows[which] = Row(made_at=now, wish=wish)
            return
        row.again += 1
        wait = min(FIRST_DELAY * (1 << min(row.again - 1, 10)), LONGEST_DELAY)
        gap = now - row.made_at
        insist(
            gap >= wait, f"making {which[-1]} again for time {row.again} waits {wait}, not {gap}"
        )
        row.made_at = now

    def may_delete(self, pod: SimPod) -> None:
        """A pod is about to be deleted."""
        self.watched(lambda: self._may_delete(pod))

    def _may_delete(self, pod: SimPod) -> None:
        leader = next((p for p in live(self.api) if _leads(p, pod.incarnation)), None)
        if pod.joiner is not None and pod.joiner.belongs and pod.lost_at is None:
            ends = leader is None or leader.dead or not pod.joiner.leader_lives
            insist(ends, f"no joined rank is deleted in a living incarnation: {pod.name}")
        retiring = retiring_of(self.api.status, pod)
        if retiring is not None:
            self.moving.may_end(pod, retiring)
        elif pod is leader and pod.leader is not None and pod.serving and pod.ready:
            whole = pod.leader.healthy and self._ranks_are_well(pod)
            # Once it is on record that an incarnation ends, it ends, even if it has got well.
            given_up = pod.incarnation in self.moving.given_up
            insist(not whole or given_up, f"a group that serves is not ended: {pod.name}")

    def may_send(self, pod: SimPod) -> None:
        """A leader is about to get traffic."""
        self.watched(lambda: self.moving.may_send(pod))

    def may_stop(self, pod: SimPod, snapshot: Snapshot) -> None:
        """A leader is about to lose its traffic."""
        self.watched(lambda: self.moving.may_stop(pod, snapshot))

    def _ranks_are_well(self, leader: SimPod) -> bool:
        joined = {p.offset for p in live(self.api) if p.joiner and p.joiner.admitted and not p.lost}
        assert leader.leader is not None
        group = leader.leader.group
        wanted = set(range(group.shape.launch_size, group.effective))
        return wanted <= {
            rank
            for p in live(self.api)
            if p.joiner and p.offset in joined
            for rank in p.joiner.ranks
        }

    def may_request(self, action: RequestScale, address: str) -> None:
        """An engine is about to be asked."""
        self.watched(lambda: self._may_request(action, address))

    def _may_request(self, action: RequestScale, address: str) -> None:
        pod = next((p for p in self.api.pods.values() if p.uid == action.leader_uid), None)
        operation = dict(operations(self.api.status)).get(pod.incarnation) if pod else None
        on_record = operation is not None and operation.to == action.target
        insist(on_record or pod is None, "an operation is on record before an engine is asked")
        process = self.nodes.leader_at(address)
        if process is not None and process.group.pending is not None:
            others = process.asked_by_others
            insist(others, f"{action.target} is not asked for while it is pending")


def live(api: ApiServer) -> list[SimPod]:
    """The pods that nobody is deleting."""
    return [pod for pod in api.pods.values() if not pod.terminating]


def _is_told_again(old: GroupStatus, new: GroupStatus, snapshot: Snapshot) -> bool:
    """Whether one failure is counted twice, since no operator ended its pod while it was waited.

    The record does not tell the pod by which it was counted, and the next one has its name.
    """
    known, failure = old.failures, new.failures
    if known is None or failure is None or known.next_retry_at is None:
        return False
    return known.message == failure.message and snapshot.now >= known.next_retry_at


def _leads(pod: SimPod, incarnation: str) -> bool:
    return pod.role == names.LEADER and pod.incarnation == incarnation
