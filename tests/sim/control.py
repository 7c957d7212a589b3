"""The way from the operator to the leader's engine, as `elasticep.control` would see it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from tests.sim.engines import LeaderProcess
from tests.sim.kubelet import Nodes

from elasticep.api.reasons import Engine
from elasticep.apply.refusals import refused_by_engine
from elasticep.control.client import Refused
from elasticep.world.engine import (
    Completion,
    CompletionFailed,
    CompletionSucceeded,
    EngineState,
    EngineUnknown,
)
from elasticep.world.snapshot import Refusal


class Trouble(Enum):
    """What may happen to one request."""

    NONE = auto()
    NOT_DELIVERED = auto()
    """It never arrived; the sender cannot tell."""
    ANSWER_LOST = auto()
    """It was carried out, and the answer did not come back."""

    def __repr__(self) -> str:
        return self.name


@dataclass(eq=False, kw_only=True)
class Client:
    """Requests to whoever answers under one address now, with the key as it was read."""

    nodes: Nodes
    address: str
    admin_key: int

    def _process(self) -> LeaderProcess | None:
        process = self.nodes.leader_at(self.address)
        if (
            process is None
            or not process.listening
            or process.hung
            or self.nodes.leader_unreachable
        ):
            return None
        return process

    def state(self, trouble: Trouble) -> EngineState | EngineUnknown:
        """The answer to GET."""
        process = self._process()
        if process is None or trouble is not Trouble.NONE:
            return EngineUnknown(reason=Engine.UNREACHABLE, message="no answer")
        if process.admin_key != self.admin_key:
            message = "the engine refuses the group's admin key"
            return EngineUnknown(reason=Engine.UNAUTHORIZED, message=message)
        mirror = process.group.mirror
        return EngineState(
            effective=mirror.effective,
            pending=mirror.pending,
            phase=str(mirror.phase),
            last_error=mirror.last_error or "",
            safe_to_terminate=process.safe_ranks,
        )

    def load(self, trouble: Trouble) -> int | None:
        """How many requests it has not answered, when it tells; that takes no key."""
        process = self._process()
        if process is None or trouble is not Trouble.NONE or self.nodes.loads_unknown:
            return None
        return process.requests.unanswered(self.nodes.api.now)

    def complete(self, trouble: Trouble) -> Completion:
        """The answer to a one-token request."""
        process = self._process()
        if process is None or trouble is Trouble.NOT_DELIVERED:
            return CompletionFailed(message="no answer")
        served = process.complete(self.nodes.api.now)
        if served and trouble is Trouble.NONE and not self.nodes.completions_lost:
            return CompletionSucceeded()
        return CompletionFailed(message="timed out")

    def request_scale(self, target: int, trouble: Trouble) -> Refusal | None:
        """The refusal of a scale request; accepted, busy and silence look alike."""
        process = self._process()
        if process is None or trouble is Trouble.NOT_DELIVERED:
            return None
        if process.admin_key != self.admin_key:
            return refused_by_engine(target, Refused(code=401, message="Unauthorized"))
        answer = process.request_scale(target, self.nodes.api.now)
        if answer.accepted or answer.status == 409 or trouble is Trouble.ANSWER_LOST:
            return None
        return refused_by_engine(
            target, Refused(code=answer.status, message=str(answer.body["error"]))
        )
