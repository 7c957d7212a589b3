"""Whether a pod crashes, why, and whether another try can help."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from elasticep.api.reasons import Kubelet, Loss
from elasticep.engine.crash_signatures import classify_text
from elasticep.plan.back_off import Failure
from elasticep.world.pods import Container, Exit, Pod

_EXCERPT_BYTES = 2048
_TOLERATED_RESTARTS = 1
"""A first exit is restarted in place by the kubelet, at once; the second makes a loop."""

_LONG_LIFE = timedelta(minutes=10)
"""A container that lived this long did not crash in a loop, however often it was restarted."""

_KILLED = 137
_TERMINATED = 143
_SECRET = re.compile(
    r"(?i)((?:api|admin|access|secret)[-_]?key|token|password|bearer)([\s\"'=:]+)(\S+)"
)


@dataclass(frozen=True, kw_only=True)
class Crash:
    """One container that ends again and again, or that no retry can help."""

    pod: Pod
    container: str
    reason: str
    message: str
    advice: str
    exit_code: int
    excerpt: str
    """The last words of the container, at most 2 KiB, secrets masked."""
    lasting: bool
    """Whether another try must end the same way."""
    at: datetime
    lived: timedelta | None
    """From its start to its end, when the kubelet tells both."""

    @property
    def failure(self) -> Failure:
        """The crash as something to count."""
        return Failure(
            reason=self.reason,
            message=self.message,
            advice=self.advice,
            exit_code=self.exit_code,
            excerpt=self.excerpt,
            lasting=self.lasting,
        )


def root_cause(pods: Iterable[Pod]) -> Crash | None:
    """The earliest end of a container among the pods: the later ones are often consequences.

    Unlike `diagnose` it asks for no loop: it explains a loss that is known already.
    """
    ends = [crash for pod in pods for _, crash in _ends(pod)]
    return min(ends, key=lambda crash: crash.at, default=None)


def diagnose(pod: Pod) -> Crash | None:
    """The crash that a pod is in, if it is in one.

    A first exit is the kubelet's to mend, unless its cause is one that stays.
    """
    for container, crash in _ends(pod):
        if crash.lasting or _loops(container, crash):
            return crash
    return None


def _ends(pod: Pod) -> Iterator[tuple[Container, Crash]]:
    """The last end of each container that is not ready now: ready beats what was before."""
    for container in pod.containers:
        ended = _last_end(container)
        if ended is not None and not container.ready:
            yield container, _crash(pod, container, ended)


def _loops(container: Container, crash: Crash) -> bool:
    if crash.lived is not None and crash.lived > _LONG_LIFE:
        return False
    return container.restarts > _TOLERATED_RESTARTS or (
        container.restarts == _TOLERATED_RESTARTS and not container.running
    )


def _last_end(container: Container) -> Exit | None:
    ended = container.exit or container.last_exit
    if ended is None or (container.init and ended.code == 0):
        return None
    return ended


def _crash(pod: Pod, container: Container, ended: Exit) -> Crash:
    reason, advice, lasting = _classify(pod, ended)
    words = ended.message.strip()
    last_line = words.splitlines()[-1] if words else f"exit code {ended.code}"
    return Crash(
        pod=pod,
        container=container.name,
        reason=reason,
        message=f"container {container.name} of {pod.role} pod {pod.name} exited with code "
        f"{ended.code}: {last_line[:512]}",
        advice=advice,
        exit_code=ended.code,
        excerpt=_masked(words)[-_EXCERPT_BYTES:],
        lasting=lasting,
        at=ended.finished_at or datetime.max.replace(tzinfo=UTC),
        lived=ended.finished_at - ended.started_at
        if ended.started_at and ended.finished_at
        else None,
    )


def _classify(pod: Pod, ended: Exit) -> tuple[str, str, bool]:
    if signature := classify_text(ended.message):
        return signature.reason, signature.advice, signature.deterministic
    if ended.reason == Kubelet.OOM_KILLED:
        advice = "raise the container's memory limit, or lower what the engine keeps in memory"
        return Kubelet.OOM_KILLED, advice, False
    if ended.code in {_KILLED, _TERMINATED}:
        advice = "look for a probe or a node that killed it: kubectl describe pod " + pod.name
        return Loss.CONTAINER_KILLED, advice, False
    advice = f"read its last words: kubectl logs --previous {pod.name}"
    return Loss.ENGINE_CRASHED, advice, False


def _masked(words: str) -> str:
    return _SECRET.sub(lambda match: f"{match[1]}{match[2]}***", words)
