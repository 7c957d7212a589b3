"""A pod, as far as the planner cares."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Exit:
    """One end of a container."""

    code: int
    reason: str = ""
    message: str = ""
    """The termination message: what the container wrote, or the tail of its log."""
    started_at: datetime | None = None
    finished_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Container:
    """One container's state; at most one of running, waiting and terminated holds."""

    name: str
    init: bool = False
    container_id: str = ""
    running: bool = False
    ready: bool = False
    started_at: datetime | None = None
    restarts: int = 0
    waiting_reason: str = ""
    waiting_message: str = ""
    exit: Exit | None = None
    last_exit: Exit | None = None


@dataclass(frozen=True, kw_only=True)
class Pod:
    """One pod of a group: the labels that the operator gave it and what the kubelet reports."""

    name: str
    uid: str
    role: str
    incarnation: str
    serial: int = 0
    offset: int = 0
    leader_life: str = ""
    template_hash: str = ""
    serving: bool = False
    """The Service selects it."""
    has_served: bool = False
    """The Service selected it once, and does not any more."""
    phase: str = "Pending"
    reason: str = ""
    message: str = ""
    ip: str = ""
    port: int = 0
    """Where its engine listens; a changed spec moves the port of new pods only."""
    node: str = ""
    ready: bool = False
    unschedulable: str = ""
    """The scheduler's words while it finds no node; empty otherwise."""
    scheduled_at: datetime | None = None
    """When it was given its node."""
    gated: bool = False
    """Held back by a scheduling gate, as queueing systems do."""
    gone_by: datetime | None = None
    """For a pod that is being deleted: when its grace period ends."""
    containers: tuple[Container, ...] = ()

    @property
    def terminating(self) -> bool:
        """Whether someone has asked for the pod's deletion."""
        return self.gone_by is not None

    @property
    def dead(self) -> bool:
        """Whether the pod has ended for good: its kubelet will not start it again."""
        return self.phase in {"Failed", "Succeeded"}

    @property
    def restarts(self) -> int:
        """How often the kubelet has restarted a container of the pod, at most."""
        return max((container.restarts for container in self.containers), default=0)

    def container(self, name: str) -> Container | None:
        """The container called ``name``, once the kubelet has reported it."""
        return next((c for c in self.containers if c.name == name and not c.init), None)
