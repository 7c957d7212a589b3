"""Scheduler, kubelets and engines: what happens by itself, one small step of one pod at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.sim.api_server import ApiServer
from tests.sim.engines import LEADER_LOADS, Death, LeaderProcess
from tests.sim.joining import JOINER_LOADS, JOINER_PATIENCE, JoinerProcess, Stage
from tests.sim.pods import LEARNS_WITHIN, SimPod

from elasticep.api import names
from simengine.faults import NativeShrink

NODE_EVICTS_AFTER = timedelta(minutes=5)
FULL = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."
PLENTY = 64
"""GPUs for more pods than a story has."""


@dataclass(eq=False, kw_only=True)
class Nodes:
    """All that runs pods."""

    api: ApiServer
    gpus: int = PLENTY
    image_missing: bool = False
    leader_unreachable: bool = False
    completions_lost: bool = False
    """The leader generates tokens, and none of them reaches the operator."""
    loads_unknown: bool = False
    """No engine tells how many requests it has."""
    shrinks: NativeShrink | None = None
    """How engines that start from now on give ranks back, if they can."""
    limp: bool = False
    """Whether engines that start from now on serve with the ranks that they have left."""
    exits: int = 0
    """How many containers have ended by themselves."""
    lives: list[LeaderProcess] = field(default_factory=list)
    """Every leader's process that ever was."""

    @property
    def failures(self) -> int:
        """Exits, and what engines have given up."""
        return self.exits + sum(life.failures for life in self.lives)

    def pods(self) -> list[SimPod]:
        """Every pod, the oldest first."""
        return list(self.api.pods.values())

    def leader_at(self, address: str) -> LeaderProcess | None:
        """The leader's process that can be reached under an address."""
        for pod in self.api.pods.values():
            if pod.ip == address and pod.leader is not None and pod.lost_at is None:
                return pod.leader
        return None

    def leaders(self) -> list[LeaderProcess]:
        """Every leader's process that lives and can be reached."""
        return [pod.leader for pod in self.pods() if pod.leader and pod.lost_at is None]

    def endpoints(self) -> Iterator[LeaderProcess]:
        """The engines to which the Service sends a request, at one node or another."""
        for pod in self.pods():
            left = pod.traffic_left_at
            late = left is not None and self.api.now < left + LEARNS_WITHIN
            if pod.leader and pod.ready and not pod.terminating and (pod.serving or late):
                yield pod.leader

    def step(self, pod: SimPod) -> str | None:
        """What the pod does next, if it can do anything now."""
        done = self._step(pod)
        if done is not None:
            self.api.touch()
        return done

    def _step(self, pod: SimPod) -> str | None:
        if pod.lost_at is not None:
            return self._evict_from_lost_node(pod)
        if pod.terminating:
            return self._end(pod)
        if pod.dead:
            return None
        if not pod.node:
            return self._schedule(pod)
        if pod.process is None:
            return self._start(pod)
        return self._run(pod)

    def _evict_from_lost_node(self, pod: SimPod) -> str | None:
        assert pod.lost_at is not None
        if pod.terminating or self.api.now < pod.lost_at + NODE_EVICTS_AFTER:
            return None
        self.api.delete_pod(pod)
        return "is given up by the node controller and stays Terminating"

    def _end(self, pod: SimPod) -> str | None:
        assert pod.gone_by is not None
        # A joiner installs no handler for SIGTERM: it runs until it is killed.
        if pod.role == names.JOINER and pod.process and self.api.now < pod.gone_by:
            return None
        # A leader answers first what it has been asked.
        busy = pod.leader is not None and pod.leader.requests.unanswered(self.api.now) > 0
        if busy and self.api.now < pod.gone_by:
            return None
        self.api.remove(pod)
        return "is gone"

    def _schedule(self, pod: SimPod) -> str | None:
        used = sum(other.gpus for other in self.pods() if other.node and not other.lost)
        if used + pod.gpus > self.gpus:
            if pod.unschedulable:
                return None
            pod.unschedulable = FULL
            return "finds no node"
        pod.unschedulable = ""
        pod.node = f"node-{pod.uid}"
        pod.ip = pod.uid.replace("pod-", "10.0.0.")
        return "is scheduled"

    def _start(self, pod: SimPod) -> str | None:
        if pod.exit is not None and pod.starts > 1:
            pod.backs_off()
            return "waits in CrashLoopBackOff"
        if pod.restart_at is not None and self.api.now < pod.restart_at:
            return None
        if self.image_missing and not pod.starts:
            return _wait(pod, "ImagePullBackOff", "not found")
        if self.api.admin_key is None:
            return _wait(pod, "CreateContainerConfigError", "secret lite-admin-key not found")
        pod.start(self._process(pod, self.api.admin_key), self.api.now)
        return "runs"

    def _process(self, pod: SimPod, admin_key: int) -> LeaderProcess | JoinerProcess:
        if pod.role == names.LEADER:
            life = LeaderProcess.start(
                pod.arguments,
                address=pod.ip,
                admin_key=admin_key,
                now=self.api.now,
                shrinks=self.shrinks,
            )
            life.limps = self.limp
            self.lives.append(life)
            return life
        return JoinerProcess.start(pod.arguments, now=self.api.now)

    def _run(self, pod: SimPod) -> str | None:
        if pod.leader is not None:
            done = pod.leader.advance(self.api.now)
        else:
            assert pod.joiner is not None
            found = self.leader_at(pod.joiner.leader_address)
            done = pod.joiner.advance(self.api.now, found=found)
        if isinstance(done, Death):
            self.crash(pod, done.code, done.words)
            return f"exits with code {done.code}: {done.words[:60]}"
        return done or self._probe(pod)

    def _probe(self, pod: SimPod) -> str | None:
        if pod.leader is not None:
            if pod.leader.listening and (pod.leader.group.lost or self._is_late(pod.leader)):
                # The probe's own token is the forward pass that finds a rank gone, or the time up.
                pod.leader.complete(self.api.now)
            at_barrier = pod.leader.admission is not None and not pod.leader.hung
            ready = pod.leader.healthy or (pod.ready and at_barrier)
        else:
            ready = pod.joiner is not None and pod.joiner.stage is Stage.SERVING
        if ready == pod.ready:
            return None
        pod.ready = ready
        return "turns ready" if ready else "is not ready any more"

    def _is_late(self, leader: LeaderProcess) -> bool:
        group = leader.group
        since = self.api.now.timestamp() - group.pending_since
        return group.pending is not None and since > group.shape.scale_timeout

    def crash(self, pod: SimPod, code: int, words: str) -> None:
        """The pod's container ends."""
        self.exits += 1
        pod.exits(code, words, self.api.now)
        self.api.touch()

    def alarms(self) -> Iterator[datetime]:
        """When something may happen that waits for its time."""
        for pod in self.api.pods.values():
            times = (pod.restart_at, pod.gone_by if not pod.lost_at else None)
            yield from (time for time in times if time is not None)
            if pod.lost_at is not None and not pod.terminating:
                yield pod.lost_at + NODE_EVICTS_AFTER
            if pod.leader is not None:
                yield from _alarms(pod.leader)
            if pod.joiner is not None:
                yield from (
                    pod.joiner.since + wait + timedelta(seconds=1)
                    for wait in (JOINER_LOADS, JOINER_PATIENCE)
                )


def _alarms(leader: LeaderProcess) -> Iterator[datetime]:
    if not leader.listening:
        yield leader.started_at + LEADER_LOADS
    if (answer := leader.requests.next_answer()) is not None:
        yield answer
    if leader.parted_at is not None and leader.group.native_shrink is not None:
        yield leader.parted_at + timedelta(seconds=leader.group.native_shrink.safe_after_seconds)


def _wait(pod: SimPod, reason: str, message: str) -> str | None:
    if pod.waiting_reason == reason:
        return None
    pod.waiting_reason, pod.waiting_message = reason, message
    return f"waits: {reason}"
