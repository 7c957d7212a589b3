"""The snapshot, sorted: which leader, which life of its engine, which joiners belong to it.

A view looks at one incarnation. A group has one that serves or is about to; while another one is
made to take its place, that one has a view of its own, and the same questions are asked of it.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from elasticep.api import names
from elasticep.api.models import GroupSpec, JoinerState, JoinerStatus
from elasticep.api.reasons import Progress
from elasticep.plan import incarnations
from elasticep.plan.decision import Memory
from elasticep.plan.incarnations import may_be_seen_to_go
from elasticep.plan.pods import Blueprint
from elasticep.plan.template_hash import template_hash
from elasticep.world.engine import EngineState, EngineUnknown, Hearing
from elasticep.world.pods import Container, Pod
from elasticep.world.snapshot import Group, Snapshot

NOTHING_HEARD = Hearing(engine=EngineUnknown(reason=Progress.LEADER_STARTING))
"""What is known of an engine that nobody has asked."""


@dataclass(frozen=True, kw_only=True)
class View:
    """One incarnation of a group, seen the way that decisions need it."""

    snapshot: Snapshot
    spec: GroupSpec
    memory: Memory
    """What was on record, as far as this look has already changed it."""
    hearing: Hearing
    """What the engine of this incarnation's leader said."""
    coming: bool = False
    """Whether this is the incarnation that is to take over, and not the one on record."""

    @classmethod
    def of(cls, snapshot: Snapshot, spec: GroupSpec) -> "View":
        """The view of the incarnation on record, of a group whose spec could be read."""
        status = snapshot.group.status
        memory = Memory(
            incarnation=status.incarnation,
            operation=status.operation,
            failures=status.failures,
            joiners=status.joiners,
            move=status.move,
            retiring=status.retiring,
            scale_down=status.scale_down,
        )
        hearing = Hearing(engine=snapshot.engine, completion=snapshot.completion)
        return cls(snapshot=snapshot, spec=spec, memory=memory, hearing=hearing)

    def successor(self) -> "View":
        """The view of the incarnation that is to take over.

        Raises:
            ValueError: none is being made.
        """
        move = self.memory.move
        if move is None:
            message = "no other incarnation is being made"
            raise ValueError(message)
        memory = replace(
            self.memory,
            incarnation=move.successor,
            operation=move.operation,
            joiners=move.joiners,
            scale_down=None,
        )
        hearing = self.snapshot.successor or NOTHING_HEARD
        return replace(self, memory=memory, hearing=hearing, coming=True)

    def remember(self, **changes: Any) -> "View":
        """The same world with other things on record; what is not given stays."""
        return replace(self, memory=replace(self.memory, **changes))

    def without_operation(self) -> "View":
        """The same world with the operation settled."""
        return self.remember(operation=None)

    def without_failures(self) -> "View":
        """The same world with the last failure forgotten."""
        return self.remember(failures=None)

    @property
    def group(self) -> Group:
        """The object itself."""
        return self.snapshot.group

    @property
    def blueprint(self) -> Blueprint:
        """What the group's pods are made from."""
        group = self.group
        return Blueprint(
            group=group.name, namespace=group.namespace, group_uid=group.uid, spec=self.spec
        )

    @property
    def engine(self) -> EngineState | None:
        """What the engine says; nothing when it is unknown, or there is no leader."""
        engine = self.hearing.engine
        return engine if isinstance(engine, EngineState) and self.leader is not None else None

    @cached_property
    def template_hash(self) -> str:
        """The hash of what every pod of a new incarnation would be made from."""
        return template_hash(self.spec)

    @cached_property
    def pods(self) -> tuple[Pod, ...]:
        """The pods that this incarnation answers for: its own, and strays of earlier ones."""
        return incarnations.answerable(self.snapshot.pods, self.memory, coming=self.coming)

    @cached_property
    def live(self) -> tuple[Pod, ...]:
        """The pods that nobody is deleting."""
        return tuple(pod for pod in self.pods if not pod.terminating)

    @cached_property
    def leaving(self) -> tuple[Pod, ...]:
        """The pods that are being deleted and may still be seen to go."""
        return tuple(pod for pod in self.pods if may_be_seen_to_go(pod, self.snapshot.now))

    @cached_property
    def leader(self) -> Pod | None:
        """The leader pod of the incarnation on record, or else of the newest.

        One of an earlier incarnation than that on record is none, however well it looks: it was
        given up, and whoever was to delete it died in between. A later one may come from a request
        that was made before the record, and arrived after it. With nothing on record, as in an
        object that was restored from a backup, it is the one that has the traffic.
        """
        known = self.memory.incarnation
        oldest = known.serial if known else 0
        leaders = [p for p in self.live if p.role == names.LEADER and p.serial >= oldest]

        def rank(pod: Pod) -> tuple[bool, int, str]:
            counts = pod.incarnation == known.id if known else pod.serving
            return counts, pod.serial, pod.uid

        return max(leaders, key=rank, default=None)

    @property
    def template_is_current(self) -> bool:
        """Whether the leader was made from what the spec says now."""
        return self.leader is not None and self.leader.template_hash == self.template_hash

    @property
    def leader_container(self) -> Container | None:
        """The leader's engine container, once the kubelet has reported it."""
        return self.leader.container(names.CONTAINER) if self.leader else None

    @cached_property
    def life(self) -> str | None:
        """The id of the leader's present life: the pod, and the start of its container.

        A container that restarts in place keeps pod, name and address, but every joiner of the
        life before it is stale.
        """
        container = self.leader_container
        if self.leader is None or container is None or not container.running:
            return None
        return names.short_hash(self.leader.uid, container.container_id)

    @cached_property
    def joiners(self) -> tuple[Pod, ...]:
        """The joiners of the present life, in rank order."""
        mine = [p for p in self._all_joiners if self.life and p.leader_life == self.life]
        return tuple(sorted(mine, key=lambda pod: pod.offset))

    @cached_property
    def strays(self) -> tuple[Pod, ...]:
        """Pods that belong to no present life: older leaders, and joiners of an older life.

        While the leader's container is not running its life is not known, and joiners of the
        same incarnation are left alone: they may yet turn out to be its own.
        """
        leader = self.leader
        strays = []
        for pod in self.live:
            if leader is None or pod.incarnation != leader.incarnation:
                stray = pod is not leader
            else:
                stray = (
                    pod.role == names.JOINER
                    and self.life is not None
                    and pod.leader_life != self.life
                )
            if stray:
                strays.append(pod)
        return tuple(strays)

    @property
    def _all_joiners(self) -> tuple[Pod, ...]:
        return tuple(pod for pod in self.live if pod.role == names.JOINER)

    @property
    def desired(self) -> int:
        """The EP size that the spec asks for, never above what was reserved at boot."""
        return fitting_ep_size(self.spec)

    @property
    def leader_serves(self) -> bool:
        """Whether the leader answers and is ready to."""
        return self.leader is not None and self.leader.ready and self.engine is not None

    def record_of(self, joiner: Pod) -> JoinerStatus | None:
        """What was known of a joiner at the last look; nothing of one that is new."""
        return next((each for each in self.memory.joiners if each.uid == joiner.uid), None)

    def has_joined(self, joiner: Pod) -> bool:
        """Whether a joiner's ranks were part of the group at the last look."""
        known = self.record_of(joiner)
        return known is not None and known.state is JoinerState.JOINED

    def joiner_at(self, offset: int) -> Pod | None:
        """The joiner of the present life at rank ``offset``."""
        return next((pod for pod in self.joiners if pod.offset == offset), None)

    def terminating_at(self, offset: int) -> tuple[Pod, ...]:
        """The joiners of the present life at rank ``offset`` that are being deleted."""
        return tuple(
            pod
            for pod in self.pods
            if pod.terminating
            and pod.role == names.JOINER
            and pod.offset == offset
            and pod.leader_life == self.life
        )


def fitting_ep_size(spec: GroupSpec) -> int:
    """The wanted EP size, cut to the largest reachable one that fits ``maxEPSize``.

    Admission refuses a spec that does not fit; one that was stored under an older schema may
    still ask for too much.
    """
    wanted = spec.ep_size()
    if wanted <= spec.max_ep_size:
        return wanted
    joiners = max(0, (spec.max_ep_size - spec.leader.ranks) // spec.joiner.ranks)
    return spec.leader.ranks + joiners * spec.joiner.ranks
