"""Engine processes: a leader's life, around the simulated engine's state machine, and joiners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, auto

from simengine.scale_protocol import Admission, Answer, Happened, Shape
from simengine.state_machine import ElasticGroup

LEADER_LOADS = timedelta(seconds=20)
JOINER_LOADS = timedelta(seconds=5)
JOINER_PATIENCE = timedelta(seconds=60)
"""How long a registered joiner waits to be admitted; 300 s in reality."""

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
LEADER_LEFT = "torch.distributed.DistNetworkError: Failed to recv, got 0 bytes."
NOT_ADMITTED = "torch.distributed.DistStoreError: wait timeout after 60000ms"


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
    admission: Admission | None = None
    """The ranks that meet at the barrier; every forward pass waits meanwhile."""
    asked_by_others: bool = False
    failures: int = 0
    """Operations that the engine gave up, and ranks that it has found to be lost."""

    @classmethod
    def start(
        cls, arguments: Sequence[str], *, address: str, admin_key: int, now: datetime
    ) -> LeaderProcess:
        """A leader as its command line says."""
        shape = Shape(
            launch_size=int(_value(arguments, "--tp-size")),
            max_size=int(_value(arguments, "--max-ep-size")),
            scale_timeout=float(_value(arguments, "--elastic-ep-scale-timeout")),
        )
        return cls(
            address=address,
            admin_key=admin_key,
            started_at=now,
            group=ElasticGroup(shape),
            fate=_fate(arguments, breaks=BREAKS_LEADER, tires=TIRES_LEADER),
        )

    def advance(self, now: datetime) -> str | Death | None:
        """One step of loading; nothing when there is none to do yet."""
        if self.fate is not None:
            return self.fate
        if not self.listening and now >= self.started_at + LEADER_LOADS:
            self.listening = True
            return "has loaded and listens"
        return None

    @property
    def healthy(self) -> bool:
        """What ``/health`` finds: it generates a token."""
        works = self.listening and not self.hung
        return works and self.admission is None and not self.group.lost

    def request_scale(self, target: int, now: datetime) -> Answer:
        """The answer to a scale request."""
        return self.group.request_scale(target, now=now.timestamp())

    def complete(self, now: datetime) -> bool:
        """Whether a one-token request is served; it moves the engine on by one step."""
        if self.admission is not None or self.hung:
            return False
        step = self.group.forward_pass(now=now.timestamp())
        if isinstance(step, Admission):
            self.admission = step
            return False
        self.failures += isinstance(step, Happened) and step.error
        return not self.group.lost

    def pass_barrier(self) -> str:
        """The admitted ranks are through, or gone: the engine serves with them either way."""
        assert self.admission is not None
        self.group.mark_syncing()
        happened = self.group.commit(self.admission)
        self.admission = None
        return happened.message


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
        offset = int(_value(arguments, "--elastic-ep-join-rank-offset"))
        return cls(
            leader_address=_value(arguments, "--dist-init-addr").rpartition(":")[0],
            ranks=range(offset, offset + int(_value(arguments, "--tp-size"))),
            started_at=now,
            fate=_fate(arguments, breaks=BREAKS_JOINER, tires=TIRES_JOINER),
        )

    @property
    def admitted(self) -> bool:
        """Whether the leader serves with these ranks."""
        return (
            self.leader is not None
            and self.leader.group.effective >= self.ranks.stop
            and self.leader.group.alive.issuperset(self.ranks)
        )

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
        if self.leader is not None:
            self.leader.group.ranks_gone(self.ranks)


def _fate(arguments: Sequence[str], *, breaks: str, tires: str) -> Death | None:
    if breaks in arguments:
        return Death(1, REFUSES_ARGUMENTS)
    return Death(1, IS_TIRED) if tires in arguments else None


def _value(arguments: Sequence[str], flag: str) -> str:
    return arguments[arguments.index(flag) + 1]
