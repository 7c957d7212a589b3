"""Which faults are on, and how much of each is left."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from simengine.faults import (
    AfterRankLoss,
    Crash,
    Fault,
    Hang,
    Identity,
    LoseRank,
    NativeShrink,
    Route,
    RouteFault,
    ShowPhase,
    Slow,
    Stage,
    StageFault,
    Timing,
)

AnyFault = TypeVar("AnyFault", bound=Fault)
AnyRouteFault = TypeVar("AnyRouteFault", bound=RouteFault)


@dataclass(eq=False)
class _Armed:
    """A fault and how often it has struck."""

    fault: Fault
    used: int = 0

    def has_uses_left(self, fault: RouteFault) -> bool:
        return fault.times is None or self.used < fault.times


class FaultPlan:
    """The faults of one process: those it was started with and those added while it runs.

    Later faults come first, so that one added at run time overrides the template's.
    """

    def __init__(self, *, who: Identity, initial: Iterable[Fault] = ()) -> None:
        self.who = who
        self._initial = [_Armed(fault) for fault in initial]
        self._added: list[_Armed] = []

    def add(self, faults: Iterable[Fault]) -> None:
        """Switch on more faults."""
        self._added += [_Armed(fault) for fault in faults]

    def clear(self) -> None:
        """Switch off the faults that were added."""
        self._added.clear()

    @property
    def added(self) -> list[Fault]:
        """The faults switched on at run time, whoever they are meant for."""
        return [armed.fault for armed in self._added]

    @property
    def active(self) -> list[Fault]:
        """All faults that are meant for this process, the latest first."""
        return [armed.fault for armed in self._armed]

    @property
    def _armed(self) -> list[_Armed]:
        every = [*reversed(self._added), *reversed(self._initial)]
        return [armed for armed in every if armed.fault.when.matches(self.who)]

    def _of(self, kind: type[AnyFault]) -> list[AnyFault]:
        return [fault for fault in self.active if isinstance(fault, kind)]

    def at_stage(self, stage: Stage) -> StageFault | None:
        """The crash or hang that strikes at this stage."""
        stoppers: list[StageFault] = [*self._of(Crash), *self._of(Hang)]
        return next((fault for fault in stoppers if fault.stage == stage), None)

    def delay_of(self, route: Route) -> float:
        """Seconds to wait before this route answers; counts as one use."""
        slow = self.on_route(route, Slow)
        return slow.seconds if slow else 0.0

    def on_route(self, route: Route, kind: type[AnyRouteFault]) -> AnyRouteFault | None:
        """The next fault of a kind on this route; counts as one use."""
        for armed in self._armed:
            fault = armed.fault
            if isinstance(fault, kind) and fault.route == route and armed.has_uses_left(fault):
                armed.used += 1
                return fault
        return None

    @property
    def shown_phase(self) -> str | None:
        """The phase to report in place of the true one."""
        return next((fault.phase for fault in self._of(ShowPhase)), None)

    @property
    def ranks_to_lose(self) -> list[LoseRank]:
        """Ranks that are to stop answering."""
        return self._of(LoseRank)

    @property
    def requests_after_rank_loss(self) -> str:
        """`fail`, `hang` or `serve`."""
        return next((fault.requests for fault in self._of(AfterRankLoss)), "fail")

    @property
    def native_shrink(self) -> NativeShrink | None:
        """How the engine retires ranks, if it can."""
        return next(iter(self._of(NativeShrink)), None)

    @property
    def timing(self) -> dict[str, float]:
        """Settings that are changed for this process."""
        changes: dict[str, float] = {}
        for fault in reversed(self._of(Timing)):
            changes.update(fault.changes())
        return changes
