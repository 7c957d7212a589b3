"""A leader's process: one life of it, around the simulated engine's state machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.sim.requests import Requests

from simengine.faults import NativeShrink
from simengine.scale_protocol import Admission, Answer, Happened, Shape
from simengine.state_machine import ElasticGroup

LEADER_LOADS = timedelta(seconds=20)

BREAKS_LEADER = "--break-leader"
BREAKS_JOINER = "--break-joiner"
"""Flags of templates whose pods crash the same way each time, for a cause that stays."""

TIRES_LEADER = "--tire-leader"
TIRES_JOINER = "--tire-joiner"
"""Flags of templates whose pods crash at every start, for a cause that nobody knows."""

REFUSES_ARGUMENTS = (
    "AssertionError: Elastic EP requires prefill and decode CUDA graphs to be disabled"
)
IS_TIRED = "RuntimeError: something nobody has seen before"


NEVER = 1e9
SHRINKING = (
    NativeShrink(do="native_shrink"),
    NativeShrink(do="native_shrink", safe_after_seconds=20),
    NativeShrink(do="native_shrink", safe_after_seconds=NEVER),
    NativeShrink(do="native_shrink", refused=True),
    NativeShrink(do="native_shrink", shown=False),
)
"""Engines that give ranks back: at once, later, and without ever saying that they may end; one
that refuses all the same, and one that would but does not say so."""


@dataclass(frozen=True)
class Death:
    """A process that ends, and its last words."""

    code: int
    words: str


@dataclass(eq=False, kw_only=True)
class LeaderProcess:
    """One life of the leader's container."""

    address: str
    admin_key: int
    started_at: datetime
    group: ElasticGroup
    fate: Death | None
    """How it ends as soon as it has started, if it does."""
    alive: bool = True
    listening: bool = False
    hung: bool = False
    """It answers nobody any more, and nothing but its end will change that."""
    limps: bool = False
    """With ranks lost it serves on with the others."""
    admission: Admission | None = None
    """The ranks that meet at the barrier; every forward pass waits meanwhile."""
    asked_by_others: bool = False
    failures: int = 0
    """Operations that the engine gave up, and ranks that it has found to be lost."""
    requests: Requests = field(default_factory=Requests)
    registered: dict[int, int] = field(default_factory=dict)
    """Which joiner's process has registered last, by offset."""
    parted_at: datetime | None = None
    """Since when the ranks that it has given back last are parting."""

    @classmethod
    def start(
        cls,
        arguments: Sequence[str],
        *,
        address: str,
        admin_key: int,
        now: datetime,
        shrinks: NativeShrink | None,
    ) -> LeaderProcess:
        """A leader as its command line says."""
        shape = Shape(
            launch_size=int(value_of(arguments, "--tp-size")),
            max_size=int(value_of(arguments, "--max-ep-size")),
            scale_timeout=float(value_of(arguments, "--elastic-ep-scale-timeout")),
        )
        return cls(
            address=address,
            admin_key=admin_key,
            started_at=now,
            group=ElasticGroup(shape, native_shrink=shrinks),
            fate=fate(arguments, breaks=BREAKS_LEADER, tires=TIRES_LEADER),
        )

    def advance(self, now: datetime) -> str | Death | None:
        """One step of loading; nothing when there is none to do yet."""
        if self.fate is not None:
            return self.fate
        if not self.listening and now >= self.started_at + LEADER_LOADS:
            self.listening = True
            return "has loaded and listens"
        return self._release(now)

    def _release(self, now: datetime) -> str | None:
        shrinks, retirement = self.group.native_shrink, self.group.retirement
        if shrinks is None or self.parted_at is None or not retirement.parting:
            return None
        if now < self.parted_at + timedelta(seconds=shrinks.safe_after_seconds):
            return None
        return f"needs the ranks {list(retirement.release())} no more"

    @property
    def safe_ranks(self) -> frozenset[int] | None:
        """The ranks that it says may end; nothing when it does not say."""
        shrinks = self.group.native_shrink
        shown = shrinks is not None and shrinks.shown
        return frozenset(self.group.retirement.safe) if shown else None

    @property
    def healthy(self) -> bool:
        """What ``/health`` finds: it generates a token."""
        works = self.listening and not self.hung
        return works and self.admission is None and (self.limps or not self.group.lost)

    @property
    def whole(self) -> bool:
        """Whether it serves, with every rank that it counts."""
        return self.healthy and not self.group.lost

    def request_scale(self, target: int, now: datetime) -> Answer:
        """The answer to a scale request."""
        return self.group.request_scale(target, now=now.timestamp())

    def complete(self, now: datetime) -> bool:
        """Whether a one-token request is served; it moves the engine on by one step."""
        if self.admission is not None or self.hung:
            return False
        busy = self.requests.busy_ranks(now)
        step = self.group.forward_pass(now=now.timestamp(), busy_ranks=busy)
        if isinstance(step, Admission):
            self.admission = step
            return False
        if isinstance(step, Happened) and self.group.retirement.parting:
            self.parted_at = now
        self.failures += isinstance(step, Happened) and step.error
        return self.limps or not self.group.lost

    def pass_barrier(self) -> str:
        """The admitted ranks are through, or gone: the engine serves with them either way."""
        assert self.admission is not None
        self.group.mark_syncing()
        happened = self.group.commit(self.admission)
        self.admission = None
        return happened.message


def fate(arguments: Sequence[str], *, breaks: str, tires: str) -> Death | None:
    """How a process with this command line ends as soon as it has started, if it does."""
    if breaks in arguments:
        return Death(1, REFUSES_ARGUMENTS)
    return Death(1, IS_TIRED) if tires in arguments else None


def value_of(arguments: Sequence[str], flag: str) -> str:
    """What stands behind a flag."""
    return arguments[arguments.index(flag) + 1]
