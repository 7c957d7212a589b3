"""What a human should know about a change of status. Transitions only, never a state."""

from dataclasses import dataclass
from typing import Literal

from elasticep.api.models import Condition, ConditionStatus, GroupStatus
from elasticep.api.reasons import AnyWord, Happening, word


@dataclass(frozen=True, kw_only=True)
class Event:
    """One line in ``kubectl describe``."""

    type: Literal["Normal", "Warning"]
    reason: AnyWord
    action: str
    note: str


def events_between(old: GroupStatus, new: GroupStatus) -> tuple[Event, ...]:
    """The events that the step from one status to the next is worth."""
    return (
        *_incarnation(old, new),
        *_move(old, new),
        *_retiring(old, new),
        *_operation(old, new),
        *_conditions(old, new),
    )


def _incarnation(old: GroupStatus, new: GroupStatus) -> tuple[Event, ...]:
    before, after = old.incarnation, new.incarnation
    if after is None or after.leader_uid is None:
        return ()
    if before is not None and before.leader_uid == after.leader_uid:
        return ()
    if old.move is not None and old.move.successor.id == after.id:
        # It had its leader pod before it took over.
        return ()
    note = f"Incarnation {after.id} has its leader pod"
    return (_normal(Happening.LEADER_CREATED, "StartIncarnation", note),)


def _move(old: GroupStatus, new: GroupStatus) -> tuple[Event, ...]:
    before, after = old.move, new.move
    if after is not None and (before is None or before.successor.id != after.successor.id):
        note = f"Incarnation {after.successor.id} is to take over: {after.message}"
        return (_normal(Happening.SUCCESSOR_STARTED, "StartIncarnation", note),)
    if before is None or not took_over(old, new):
        return ()
    note = f"Incarnation {before.successor.id} takes over: {before.message}"
    return (_normal(Happening.TRAFFIC_MOVED, "MoveTraffic", note),)


def took_over(old: GroupStatus, new: GroupStatus) -> bool:
    """Whether a successor has taken the place of what served, and was not merely left alone."""
    if old.move is None or old.incarnation is None or new.incarnation is None:
        return False
    gave_way = old.incarnation.id in {each.id for each in new.retiring}
    return gave_way and new.incarnation.id == old.move.successor.id


def _retiring(old: GroupStatus, new: GroupStatus) -> tuple[Event, ...]:
    known = {each.id for each in old.retiring}
    return tuple(
        _normal(Happening.DRAIN_STARTED, "EndIncarnation", f"Incarnation {each.id}: {each.message}")
        for each in new.retiring
        if each.id not in known and each.served
    )


def _operation(old: GroupStatus, new: GroupStatus) -> tuple[Event, ...]:
    before, after = old.operation, new.operation
    if before is None and after is not None:
        started, _ = _SIZED[after.kind]
        return (_normal(started, "Scale", f"EP size {after.from_} → {after.to} begins"),)
    if before is not None and after is None and new.ep_size.effective == before.to:
        _, completed = _SIZED[before.kind]
        note = f"EP size {before.from_} → {before.to} is done: a completion was served"
        return (_normal(completed, "Scale", note),)
    return ()


_SIZED = {
    "Grow": (Happening.SCALE_UP_STARTED, Happening.SCALE_UP_COMPLETED),
    "Shrink": (Happening.SCALE_DOWN_STARTED, Happening.SCALE_DOWN_COMPLETED),
}


def _normal(reason: AnyWord, action: str, note: str) -> Event:
    return Event(type="Normal", reason=reason, action=action, note=note)


_ALARMING = {"Stalled", "ScaleLimited"}
_PLEASING = {
    "Ready": (Happening.READY, Happening.NOT_READY),
    "Available": (Happening.AVAILABLE, Happening.NOT_AVAILABLE),
}


def _conditions(old: GroupStatus, new: GroupStatus) -> tuple[Event, ...]:
    before = {condition.type: condition for condition in old.conditions}
    events: dict[tuple[str, str], Event] = {}
    for condition in new.conditions:
        event = _condition(before.get(condition.type), condition)
        if event is not None:
            # Two conditions may turn for the same reason, which is told once.
            events.setdefault((event.reason, event.note), event)
    return tuple(events.values())


def _condition(before: Condition | None, after: Condition) -> Event | None:
    turned = before is None or before.status != after.status
    holds = after.status is ConditionStatus.TRUE
    if after.type in _ALARMING and holds:
        if not turned and before is not None and before.reason == after.reason:
            return None
        reason = word(after.reason)
        return Event(type="Warning", reason=reason, action=after.type, note=after.message)
    if after.type in _PLEASING and turned and before is not None:
        gained, lost = _PLEASING[after.type]
        return Event(
            # Every wish for another size ends Ready; what goes wrong has a warning of its own.
            type="Warning" if after.type == "Available" and not holds else "Normal",
            reason=gained if holds else lost,
            action=after.type,
            note=after.message or after.reason,
        )
    return None
