"""Whether a pod crashes, why, and whether another try can help."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from elasticep.api import names
from elasticep.api.reasons import AnyWord, ForeignWord, Kubelet, Loss, ReasonWord
from elasticep.engine.crash_signatures import Signature, classify_text
from elasticep.plan.back_off import Failure
from elasticep.world.pods import Container, Exit, Pod

_EXCERPT_LENGTH = 2048
_TOLERATED_RESTARTS = 1
"""A first exit is restarted in place by the kubelet, at once; the second makes a loop."""

_LONG_LIFE = timedelta(minutes=10)
"""A container that lived this long did not crash in a loop, however often it was restarted."""

_LINE_LENGTH = 512
_KILLED = 137
_TERMINATED = 143
_NEVER_STARTED = frozenset({Kubelet.START_ERROR, "ContainerCannotRun"})
"""As containerd and Docker say it."""

_SECRET = re.compile(
    r"(?i)((?:api|admin|access|secret)[-_]?key|token|password|bearer)([\s\"'=:]+)(?!expected\b)(\S+)"
)


@dataclass(frozen=True, kw_only=True)
class Crash:
    """One container that ends again and again, or that no retry can help."""

    pod: Pod
    container: str
    reason: AnyWord
    message: str
    advice: str
    exit_code: int
    excerpt: str
    """The last words of the container, at most 2048 characters, secrets masked."""
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
    signature = classify_text(ended.message)
    cause = _cause(container, ended)
    words = _masked(ended.message.strip())
    telling = _telling_line(words, signature)[:_LINE_LENGTH]
    return Crash(
        pod=pod,
        container=container.name,
        reason=ForeignWord(signature.reason) if signature else cause,
        message=f"container {container.name} of {pod.role} pod {pod.name} exited with code "
        f"{ended.code}{_told_by_kubelet(ended)}{f': {telling}' if telling else ''}",
        advice=signature.advice if signature else cause.advice,
        exit_code=ended.code,
        excerpt=words[-_EXCERPT_LENGTH:],
        lasting=signature.deterministic if signature else False,
        at=ended.finished_at or datetime.max.replace(tzinfo=UTC),
        lived=ended.finished_at - ended.started_at
        if ended.started_at and ended.finished_at
        else None,
    )


def _cause(container: Container, ended: Exit) -> ReasonWord:
    """What the kubelet knows of an end that the container's own words do not explain."""
    if ended.reason == Kubelet.OOM_KILLED:
        return Kubelet.OOM_KILLED
    if ended.reason in _NEVER_STARTED:
        return Kubelet.START_ERROR
    if ended.code in {_KILLED, _TERMINATED}:
        return Loss.CONTAINER_KILLED
    if container.init:
        return Loss.INIT_CONTAINER_FAILED
    return Loss.ENGINE_CRASHED if container.name == names.CONTAINER else Loss.SIDECAR_CRASHED


def _told_by_kubelet(ended: Exit) -> str:
    """The kubelet's word for the end, when it says more than the exit code does."""
    return "" if ended.reason in {"", "Error", "Completed"} else f" ({ended.reason})"


def last_line(ended: Exit) -> str:
    """The end of what a container said before it ended, secrets masked; empty if nothing."""
    return _telling_line(_masked(ended.message.strip()), None)[:_LINE_LENGTH]


def _telling_line(words: str, signature: Signature | None) -> str:
    """The last line that says what the signature stands for, or else the last one."""
    lines = words.splitlines()
    fragments = [fragment.lower() for fragment in signature.fragments] if signature else []
    for line in reversed(lines):
        if any(fragment in line.lower() for fragment in fragments):
            return line.strip()
    return lines[-1].strip() if lines else ""


def _masked(words: str) -> str:
    return _SECRET.sub(lambda match: f"{match[1]}{match[2]}***", words)
