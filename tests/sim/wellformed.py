"""What every status must be, whatever the world is like."""

from __future__ import annotations

import re

from elasticep.api.models import Condition, ConditionStatus, GroupSpec, GroupStatus
from elasticep.world.snapshot import Snapshot

CONDITIONS = {
    "Ready",
    "Available",
    "Reconciling",
    "Stalled",
    "ScalingUp",
    "ScalingDown",
    "ScaleLimited",
}
EXPLAINED_WHEN_TRUE = {"Stalled", "Reconciling", "ScaleLimited"}
CAMEL_CASE = re.compile(r"[A-Z][A-Za-z0-9]*")


class LawBrokenError(AssertionError):
    """The planner did, or was about to do, what it must never do."""


def insist(holds: bool, law: str) -> None:
    """Say which law is broken, when it is."""
    if not holds:
        raise LawBrokenError(law)


def is_true(status: GroupStatus, kind: str) -> bool:
    """Whether a condition holds."""
    return any(c.type == kind and c.status is ConditionStatus.TRUE for c in status.conditions)


def reason_of(status: GroupStatus, kind: str) -> str:
    """Why a condition is what it is."""
    return next((c.reason for c in status.conditions if c.type == kind), "")


def judge_status(snapshot: Snapshot, status: GroupStatus) -> None:
    """The status is complete, agrees with itself and speaks of the generation that was read."""
    kinds = [condition.type for condition in status.conditions]
    insist(set(kinds) == CONDITIONS and len(kinds) == 7, f"all conditions are present: {kinds}")
    generation = snapshot.group.generation
    observed = {status.observed_generation, *(c.observed_generation for c in status.conditions)}
    insist(observed == {generation}, f"generation {generation} is observed, not {observed}")
    before = {condition.type: condition for condition in snapshot.group.status.conditions}
    for condition in status.conditions:
        _judge_condition(condition, before.get(condition.type))
    _judge_agreement(status)
    if isinstance(snapshot.group.spec, GroupSpec):
        _judge_sizes(snapshot.group.spec, status)


def _judge_condition(condition: Condition, before: Condition | None) -> None:
    what = f"{condition.type}={condition.status}, reason {condition.reason!r}"
    insist(CAMEL_CASE.fullmatch(condition.reason) is not None, f"reasons are CamelCase: {what}")
    if condition.type in EXPLAINED_WHEN_TRUE and condition.status is ConditionStatus.TRUE:
        insist(bool(condition.message), f"what is wrong is told in a sentence: {what}")
    if before is not None and before.status == condition.status:
        kept = before.last_transition_time == condition.last_transition_time
        insist(kept, f"a condition keeps its time while its status stays: {what}")


def _judge_agreement(status: GroupStatus) -> None:
    stalled, reconciling = is_true(status, "Stalled"), is_true(status, "Reconciling")
    insist(not (stalled and reconciling), "Stalled and Reconciling never hold together")
    if is_true(status, "Ready"):
        insist(not stalled, "what is Ready is not Stalled")
        ending = reason_of(status, "Reconciling") == "DrainingIncarnation"
        insist(not reconciling or ending, "what is Ready only waits for what ends")
        insist(status.operation is None, "nothing is in flight in a Ready group")
        insist(status.move is None, "a Ready group has no successor")
        available = is_true(status, "Available") or status.ep_size.desired == 0
        insist(available, "what is Ready is Available")
        sizes = status.ep_size
        insist(sizes.effective == sizes.desired, f"what is Ready has its size: {sizes}")
    pending = status.operation.to if status.operation else None
    insist(status.ep_size.pending == pending, "the pending size is the operation's")
    insist(status.ready_replicas <= status.replicas, "no more pods are ready than exist")
    failure = status.failures
    if failure is not None and failure.next_retry_at is not None:
        wait = (failure.next_retry_at - failure.last_failure_at).total_seconds()
        insist(wait >= 10, f"nothing is tried again after {wait} s already")


def _judge_sizes(spec: GroupSpec, status: GroupStatus) -> None:
    insist(status.ep_size.desired == spec.ep_size(), "the desired size is what the spec says")
    offsets = [joiner.offset for joiner in status.joiners]
    insist(offsets == sorted(set(offsets)), f"joiners stand in rank order: {offsets}")
