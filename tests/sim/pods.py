"""A pod as its kubelet knows it: one engine container that starts, ends and is started again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tests.sim.engines import LeaderProcess
from tests.sim.joining import JoinerProcess

from elasticep.api import names
from elasticep.world.pods import Container, Exit, Pod

Process = LeaderProcess | JoinerProcess

LEARNS_WITHIN = timedelta(seconds=5)
"""How long a node may go on to send requests to a leader that gets no more traffic."""

LONGEST_RESTART_DELAY = timedelta(minutes=5)


@dataclass(eq=False, kw_only=True)
class SimPod:
    """One pod from its creation until it is gone."""

    manifest: Mapping[str, Any]
    uid: str
    phase: str = "Pending"
    reason: str = ""
    message: str = ""
    ip: str = ""
    node: str = ""
    ready: bool = False
    serving: bool = False
    has_served: bool = False
    traffic_left_at: datetime | None = None
    """When it was taken out of the Service, if it has ever been in it."""
    unschedulable: str = ""
    gone_by: datetime | None = None
    lost_at: datetime | None = None
    """When its node was cut off: nobody ends or starts anything there any more."""
    process: Process | None = None
    started_at: datetime | None = None
    starts: int = 0
    waiting_reason: str = ""
    waiting_message: str = ""
    exit: Exit | None = None
    last_exit: Exit | None = None
    restart_at: datetime | None = None
    name: str = field(init=False)
    role: str = field(init=False)
    offset: int = field(init=False)

    def __post_init__(self) -> None:
        """What the manifest says of itself."""
        labels = self.manifest["metadata"]["labels"]
        self.name = self.manifest["metadata"]["name"]
        self.role = labels[names.LABEL_ROLE]
        self.offset = int(labels.get(names.LABEL_OFFSET, "0"))

    def __repr__(self) -> str:
        return self.name

    @property
    def arguments(self) -> list[str]:
        """The engine's command line."""
        arguments: list[str] = self.manifest["spec"]["containers"][0]["args"]
        return arguments

    @property
    def template_hash(self) -> str:
        """Which template it was made from."""
        return str(self.manifest["metadata"]["labels"][names.LABEL_TEMPLATE_HASH])

    @property
    def incarnation(self) -> str:
        """Which incarnation it belongs to."""
        return str(self.manifest["metadata"]["labels"][names.LABEL_INCARNATION])

    @property
    def serial(self) -> int:
        """The serial of its incarnation."""
        return int(self.manifest["metadata"]["annotations"][names.ANNOTATION_SERIAL])

    @property
    def gpus(self) -> int:
        """How many GPUs it asks for."""
        limits = self.manifest["spec"]["containers"][0]["resources"]["limits"]
        return int(limits[names.GPU_RESOURCE])

    @property
    def leader(self) -> LeaderProcess | None:
        """The leader's process in it, if one lives there."""
        return self.process if isinstance(self.process, LeaderProcess) else None

    @property
    def joiner(self) -> JoinerProcess | None:
        """The joiner's process in it, if one lives there."""
        return self.process if isinstance(self.process, JoinerProcess) else None

    @property
    def terminating(self) -> bool:
        """Whether someone has asked for its deletion."""
        return self.gone_by is not None

    @property
    def lost(self) -> bool:
        """Whether its node is cut off."""
        return self.lost_at is not None

    @property
    def dead(self) -> bool:
        """Whether its kubelet has given it up."""
        return self.phase == "Failed"

    @property
    def grace(self) -> timedelta:
        """How long it is given to end."""
        return timedelta(seconds=self.manifest["spec"]["terminationGracePeriodSeconds"])

    def start(self, process: Process, now: datetime) -> None:
        """Its container runs."""
        if self.exit is not None:
            self.last_exit = self.exit
        self.process, self.started_at, self.exit = process, now, None
        self.starts += 1
        self.phase, self.waiting_reason, self.waiting_message = "Running", "", ""

    def exits(self, code: int, words: str, now: datetime) -> None:
        """Its container has ended; the first time it is started again at once."""
        self.exit = Exit(
            code=code,
            reason="OOMKilled" if code == 137 else "Error",
            message=words,
            started_at=self.started_at,
            finished_at=now,
        )
        if self.starts > 1:
            delay = timedelta(seconds=10) * (1 << min(self.starts - 2, 8))
            self.restart_at = now + min(delay, LONGEST_RESTART_DELAY)
        self.end_process()

    def backs_off(self) -> None:
        """The kubelet says that it waits before the next start."""
        self.last_exit, self.exit = self.exit, None
        self.waiting_reason = "CrashLoopBackOff"
        self.waiting_message = "back-off restarting failed container"

    def fails(self, reason: str, message: str) -> None:
        """The kubelet gives the pod up."""
        self.phase, self.reason, self.message = "Failed", reason, message
        self.end_process()

    def end_process(self) -> None:
        """Nothing runs in it any more."""
        process, self.process, self.ready = self.process, None, False
        if isinstance(process, LeaderProcess):
            process.alive = False
        elif isinstance(process, JoinerProcess):
            process.end()

    def seen(self) -> Pod:
        """The pod as the API server shows it."""
        metadata = self.manifest["metadata"]
        annotations = metadata["annotations"]
        return Pod(
            name=self.name,
            uid=self.uid,
            role=self.role,
            incarnation=self.incarnation,
            serial=self.serial,
            offset=self.offset,
            leader_life=annotations.get(names.ANNOTATION_LEADER_LIFE, ""),
            template_hash=self.template_hash,
            serving=self.serving,
            has_served=self.has_served,
            phase=self.phase,
            reason=self.reason,
            message=self.message,
            ip=self.ip,
            node=self.node,
            ready=self.ready,
            unschedulable=self.unschedulable,
            gone_by=self.gone_by,
            containers=(self._container(),) if self.node else (),
        )

    def _container(self) -> Container:
        running = self.started_at is not None and self.exit is None and not self.waiting_reason
        waiting = "" if running or self.exit else self.waiting_reason or "ContainerCreating"
        return Container(
            name=names.CONTAINER,
            container_id=f"containerd://{self.uid}-{self.starts}" if self.starts else "",
            running=running and not self.dead,
            ready=self.ready,
            started_at=self.started_at if running else None,
            restarts=max(0, self.starts - 1),
            waiting_reason=waiting,
            waiting_message=self.waiting_message,
            exit=self.exit,
            last_exit=self.last_exit,
        )
