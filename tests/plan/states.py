"""States of the world that are told in more than one test, and what a plan says of them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from tests.plan import world

from elasticep.api.models import GroupSpec, GroupStatus, OperationStatus
from elasticep.plan.decision import Plan
from elasticep.world.snapshot import Snapshot


def serving(effective: int = 4, *joiners: int, **changes: Any) -> Snapshot:
    """A leader that serves, with joiners at these offsets."""
    pods = (world.leader(), *(world.joiner(offset) for offset in joiners))
    base = world.snapshot(pods=pods, engine=world.engine(effective))
    return replace(world.surrounded(base), **changes)


def wanting(spec: GroupSpec, state: Snapshot) -> Snapshot:
    """The same world with another spec."""
    return replace(state, group=replace(state.group, spec=spec, generation=2))


def recorded(state: Snapshot, **status: Any) -> Snapshot:
    """The same world with more on record."""
    known = state.group.status.model_copy(update=status)
    return replace(state, group=replace(state.group, status=known))


def later(state: Snapshot, planned: Plan, **passed: float) -> Snapshot:
    """The same world after the plan's status was written and some time has passed."""
    return replace(
        state,
        group=replace(state.group, status=planned.status),
        now=state.now + timedelta(**passed),
    )


def operation(from_: int = 4, to: int = 6, phase: str = "waiting_for_cohort") -> OperationStatus:
    """A growth that began just now."""
    return OperationStatus(
        from_=from_,
        to=to,
        phase=phase,
        started_at=world.NOW,
        deadline=world.NOW + timedelta(minutes=31),
        message=f"EP size {from_} → {to}",
    )


def condition(status: GroupStatus, kind: str) -> tuple[str, str]:
    """A condition's status and reason."""
    found = next(c for c in status.conditions if c.type == kind)
    return found.status.value, found.reason
