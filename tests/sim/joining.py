"""Joiner processes: from dialling the leader to serving as a part of its group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, auto

from tests.sim.engines import (
    BREAKS_JOINER,
    TIRES_JOINER,
    Death,
    LeaderProcess,
    fate,
    value_of,
)

JOINER_LOADS = timedelta(seconds=5)
JOINER_PATIENCE = timedelta(seconds=60)
"""How long a registered joiner waits to be admitted; 300 s in reality."""

LEADER_LEFT = "torch.distributed.DistNetworkError: Failed to recv, got 0 bytes."
NOT_ADMITTED = "torch.distributed.DistStoreError: wait timeout after 60000ms"


class Stage(Enum):
    """How far a joiner's process has come."""

    DIALLING = auto()
    LOADING = auto()
    REGISTERED = auto()
    SERVING = auto()


@dataclass(eq=False, kw_only=True)
class JoinerProcess:
    """One life of a joiner's container."""

    leader_address: str
    ranks: range
    started_at: datetime
    fate: Death | None
    alive: bool = True
    stage: Stage = Stage.DIALLING
    since: datetime = field(init=False)
    leader: LeaderProcess | None = None

    def __post_init__(self) -> None:
        """The first stage begins with the process."""
        self.since = self.started_at

    @classmethod
    def start(cls, arguments: Sequence[str], *, now: datetime) -> JoinerProcess:
        """A joiner as its command line says."""
        offset = int(value_of(arguments, "--elastic-ep-join-rank-offset"))
        return cls(
            leader_address=value_of(arguments, "--dist-init-addr").rpartition(":")[0],
            ranks=range(offset, offset + int(value_of(arguments, "--tp-size"))),
            started_at=now,
            fate=fate(arguments, breaks=BREAKS_JOINER, tires=TIRES_JOINER),
        )

    @property
    def admitted(self) -> bool:
        """Whether the leader serves with these ranks."""
        return (
            self.leader is not None
            and self.leader.group.effective >= self.ranks.stop
            and self.leader.group.alive.issuperset(self.ranks)
        )

    @property
    def belongs(self) -> bool:
        """Whether the leader counts on these ranks, or has not said yet that they may end."""
        if self.admitted:
            return True
        retirement = self.leader.group.retirement if self.leader is not None else None
        return retirement is not None and not retirement.parting.isdisjoint(self.ranks)

    def advance(self, now: datetime, *, found: LeaderProcess | None) -> str | Death | None:
        """One step of joining; ``found`` is who answers at the leader's address."""
        if self.fate is not None:
            return self.fate
        match self.stage:
            case Stage.DIALLING if found is not None:
                self.leader = found
                return self._enter(Stage.LOADING, now)
            case Stage.LOADING | Stage.REGISTERED if not self.leader_lives:
                return Death(1, LEADER_LEFT)
            case Stage.SERVING if not self.leader_lives:
                return Death(1, LEADER_LEFT)
            case Stage.LOADING if now >= self.since + JOINER_LOADS:
                self._register()
                return self._enter(Stage.REGISTERED, now)
            case Stage.REGISTERED if self.admitted:
                return self._enter(Stage.SERVING, now)
            case Stage.REGISTERED if now > self.since + JOINER_PATIENCE and not self._at_barrier:
                return Death(1, NOT_ADMITTED)
        return None

    def _register(self) -> None:
        assert self.leader is not None
        self.leader.registered[self.ranks.start] = id(self)
        self.leader.group.register(offset=self.ranks.start, target=self.ranks.stop)
        self.leader.group.ranks_ready(self.ranks)

    def _enter(self, stage: Stage, now: datetime) -> str:
        self.stage, self.since = stage, now
        return f"is {stage.name.lower()} for ranks {self.ranks.start} to {self.ranks.stop - 1}"

    @property
    def leader_lives(self) -> bool:
        """Whether the life of the leader that it dialled goes on."""
        return self.leader is not None and self.leader.alive

    @property
    def _at_barrier(self) -> bool:
        return self.leader is not None and self.leader.admission is not None

    def end(self) -> None:
        """The process is gone, and its ranks with it."""
        self.alive = False
        if self.leader is not None and self.leader.registered.get(self.ranks.start) == id(self):
            # A later one may have taken the place of one that its kubelet was slow to end.
            self.leader.group.ranks_gone(self.ranks)
