"""What happened to each scale request, and when: the engine's own share of a scale-up.

Times are seconds since the epoch.
Load and join are the engine's work; all else between the wish and the served size is waiting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field


@dataclass(kw_only=True)
class Operation:
    """One accepted scale request; `None` is what has not happened yet."""

    old: int
    target: int
    accepted_at: float
    cohort_registered_at: float | None = None
    completed_at: float | None = None
    failed_at: float | None = None
    error: str | None = None
    load_seconds: float | None = None
    connect_seconds: float = 0.0
    finalize_seconds: float = 0.0

    def report(self) -> dict[str, object]:
        """As JSON, with the join time that the two halves of joining add up to."""
        return asdict(self) | {"join_seconds": self.connect_seconds + self.finalize_seconds}


@dataclass(frozen=True, kw_only=True)
class Cohort:
    """A registration, which may come before or after the request it is for."""

    registered_at: float
    load_seconds: float
    connect_seconds: float = 0.0


@dataclass
class OperationLog:
    """All operations of one leader's life, in order, and how the requests were answered."""

    clock: Callable[[], float]
    operations: list[Operation] = field(default_factory=list)
    accepted: Counter[int] = field(default_factory=Counter)
    refused: Counter[int] = field(default_factory=Counter)
    _cohorts: dict[int, Cohort] = field(default_factory=dict)

    @property
    def _open(self) -> Operation | None:
        last = self.operations[-1] if self.operations else None
        return last if last and last.completed_at is None and last.failed_at is None else None

    def request(self, *, old: int, target: int, accepted: bool) -> None:
        """A scale request was answered."""
        (self.accepted if accepted else self.refused)[target] += 1
        if accepted:
            self.operations.append(Operation(old=old, target=target, accepted_at=self.clock()))

    def register(self, *, target: int, load_seconds: float) -> None:
        """A joiner announced the size the group will have with it."""
        self._cohorts[target] = Cohort(registered_at=self.clock(), load_seconds=load_seconds)

    def connect(self, *, target: int, seconds: float) -> None:
        """The joiner is connected to its peers."""
        known = self._cohorts[target]
        self._cohorts[target] = Cohort(
            registered_at=known.registered_at,
            load_seconds=known.load_seconds,
            connect_seconds=seconds,
        )

    def complete(self, *, finalize_seconds: float = 0.0) -> None:
        """The group serves with the wanted size."""
        operation = self._open
        if operation is None:
            return
        operation.completed_at = self.clock()
        operation.finalize_seconds = finalize_seconds
        cohort = self._cohorts.get(operation.target)
        if cohort is not None:
            operation.cohort_registered_at = cohort.registered_at
            operation.load_seconds = cohort.load_seconds
            operation.connect_seconds = cohort.connect_seconds

    def fail(self, error: str) -> None:
        """The operation ended at the old size; a lost rank may be reported with none open."""
        operation = self._open
        if operation is not None:
            operation.failed_at, operation.error = self.clock(), error

    def report(self) -> dict[str, object]:
        """The body of GET /sim/operations."""
        return {
            "operations": [operation.report() for operation in self.operations],
            "accepted": dict(self.accepted),
            "refused": dict(self.refused),
        }
