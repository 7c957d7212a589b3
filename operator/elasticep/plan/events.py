"""What a human should know about a change of status. Transitions only, never a state."""

from dataclasses import dataclass
from typing import Literal

from elasticep.api.models import ConditionStatus, GroupStatus
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
    return (*_incarnation(old, new), *_operation(old, new), *_conditions(old, new))


def _incarnation(old: GroupStatus, new: GroupStatus) -> tuple[Event, ...]:
    before, after = old.incarnation, new.incarnation
    if after is None or after.leader_uid is None:
        return ()
    if before is not None and before.leader_uid == after.leader_uid:
        return ()
    note = f"Incarnation {after.id} has its leader pod"
    return (
        Event(type="Normal", reason=Happening.LEADER_CREATED, action="StartIncarnation", note=note),
    )


def _operation(old: GroupStatus, new: GroupStatus) -> tuple[Event, ...]:
    before, after = old.operation, new.operation
    if before is None and after is not None:
        note = f"EP size {after.from_} → {after.to} begins"
        return (
            Event(type="Normal", reason=Happening.SCALE_UP_STARTED, action="ScaleUp", note=note),
        )
    if before is not None and after is None and new.ep_size.effective == before.to:
        note = f"EP size {before.from_} → {before.to} is done: a completion was served"
        return (
            Event(type="Normal", reason=Happening.SCALE_UP_COMPLETED, action="ScaleUp", note=note),
        )
    return ()


_ALARMING = {"Stalled", "ScaleLimited"}
_PLEASING = {
    "Ready": (Happening.READY, Happening.NOT_READY),
    "Available": (Happening.AVAILABLE, Happening.NOT_AVAILABLE),
}


def _conditions(old: GroupStatus, new: GroupStatus) -> tuple[Event, ...]:
    before = {c.type: c for c in old.conditions}
    events = []
    for condition in new.conditions:
        previous = before.get(condition.type)
        turned = previous is None or previous.status != condition.status
        if condition.type in _ALARMING and condition.status is ConditionStatus.TRUE:
            changed = turned or (previous is not None and previous.reason != condition.reason)
            if changed:
                events.append(
                    Event(
                        type="Warning",
                        reason=word(condition.reason),
                        action=condition.type,
                        note=condition.message,
                    )
                )
        elif condition.type in _PLEASING and turned and previous is not None:
            good = condition.status is ConditionStatus.TRUE
            gained, lost = _PLEASING[condition.type]
            events.append(
                Event(
                    type="Normal" if good else "Warning",
                    reason=gained if good else lost,
                    action=condition.type,
                    note=condition.message or condition.reason,
                )
            )
    return tuple(events)
