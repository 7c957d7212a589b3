"""What the leader's engine says of itself.

Source of the words: ``GET /is_scaling_elastic_ep`` of SGLang 0.5.19 and later; those about
shrinking are of https://github.com/sgl-project/sglang/pull/33111, which no release has yet.
"""

from dataclasses import dataclass

from elasticep.api.reasons import ReasonWord

FAILED_PHASE = "failed"
"""The engine has given an operation up, and takes another."""

QUIET_PHASES = frozenset({"idle", "serving_expanded", "serving_shrunk", FAILED_PHASE})
"""Phases in which the engine takes a new scale request. A phase that is in none of these
sets is one that we do not know: it means *in progress, do not act*."""

FINAL_PHASES = frozenset({"recovery_unsupported", "disabled"})
"""Phases that no request leads out of; only a restart of the group does."""


@dataclass(frozen=True, kw_only=True)
class EngineState:
    """One answer of the engine."""

    effective: int
    """How many ranks serve now."""
    pending: int | None
    """The EP size that is being grown to, if any."""
    phase: str
    last_error: str = ""
    safe_to_terminate: frozenset[int] | None = None
    """Ranks that the engine has given back, so that their pods may go; nothing when it does not
    say, as every engine that cannot shrink."""

    @property
    def quiet(self) -> bool:
        """Whether nothing is in flight, so that a request would be accepted.

        The engine's own ``is_scaling_elastic_ep`` is no help here: it can stay true after a
        rank fault with nothing pending.
        """
        return self.pending is None and self.phase in QUIET_PHASES


@dataclass(frozen=True, kw_only=True)
class EngineUnknown:
    """The engine could not be asked, or did not answer; it may be doing anything."""

    reason: ReasonWord
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class CompletionSucceeded:
    """A one-token completion was answered after the engine's state was read."""


@dataclass(frozen=True, kw_only=True)
class CompletionFailed:
    """A one-token completion was refused, broken or too late."""

    message: str


@dataclass(frozen=True, kw_only=True)
class CompletionNotTried:
    """Nobody asked: no change of the EP size is in flight."""


Completion = CompletionSucceeded | CompletionFailed | CompletionNotTried

NOT_TRIED = CompletionNotTried()


@dataclass(frozen=True, kw_only=True)
class Hearing:
    """What one leader's engine said at one look."""

    engine: EngineState | EngineUnknown
    completion: Completion = NOT_TRIED
