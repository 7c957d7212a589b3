"""Which faults are on, and how much of each is left."""

from __future__ import annotations

from collections.abc import Iterable
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


class FaultPlan:
    """The faults of one process: those it was started with and those added while it runs.

    Later faults come first, so that one added at run time overrides the template's.
    """

    def __init__(self, *, who: Identity, initial: Iterable[Fault] = ()) -> None:
        self.who = who
        self.added: list[Fault] = []
        self._initial = list(initial)
        self._used: dict[int, int] = {}

    def add(self, faults: Iterable[Fault]) -> None:
        """Switch on more faults."""
        self.added.extend(faults)

    def clear(self) -> None:
        """Switch off the faults that were added."""
        self.added.clear()

    @property
    def active(self) -> list[Fault]:
        """All faults that are meant for this process, the latest first."""
        every = [*reversed(self.added), *reversed(self._initial)]
        return [fault for fault in every if fault.when.matches(self.who)]

    def _of(self, kind: type[AnyFault]) -> list[AnyFault]:
        return [fault for fault in self.active if isinstance(fault, kind)]

    def at_stage(self, stage: Stage) -> StageFault | None:
        """The crash or hang that strikes at this stage."""
        stoppers: list[StageFault] = [*self._of(Crash), *self._of(Hang)]
        return next((fault for fault in stoppers if fault.stage == stage), None)

    def delay_of(self, route: Route) -> float:
        """Seconds to wait before this route answers; counts as one use."""
        return sum(fault.seconds for fault in self._of(Slow) if self._take(fault, route))

    def on_route(self, route: Route, kind: type[AnyFault]) -> AnyFault | None:
        """The next fault of a kind on this route; counts as one use."""
        for fault in self._of(kind):
            if isinstance(fault, RouteFault) and self._take(fault, route):
                return fault
        return None

    def _take(self, fault: RouteFault, route: Route) -> bool:
        used = self._used.get(id(fault), 0)
        if fault.route != route or (fault.times is not None and used >= fault.times):
            return False
        self._used[id(fault)] = used + 1
        return True

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
    def native_shrink(self) -> bool:
        """Whether the engine can retire ranks."""
        return bool(self._of(NativeShrink))

    @property
    def timing(self) -> dict[str, float]:
        """Settings that are changed for this process."""
        changes: dict[str, float] = {}
        for fault in reversed(self._of(Timing)):
            changes.update(fault.changes())
        return changes
