"""What one look at a group came to."""

from dataclasses import dataclass
from datetime import timedelta

from elasticep.api.models import (
    FailureStatus,
    GroupStatus,
    IncarnationStatus,
    JoinerStatus,
    MoveStatus,
    OperationStatus,
    RetiringStatus,
    ScaleDownStatus,
)
from elasticep.api.reasons import AnyWord, Outlook, ReasonWord
from elasticep.plan.actions import Action


@dataclass(frozen=True, kw_only=True)
class Reason:
    """A CamelCase word for machines and a sentence for people."""

    word: AnyWord
    message: str
    advice: str = ""
    """What to do, when that can be said better than the word's own explanation does."""

    @property
    def passing(self) -> bool:
        """Whether nobody needs to do anything for now."""
        return isinstance(self.word, ReasonWord) and self.word.outlook is not Outlook.NEEDS_HUMAN

    @property
    def remedy(self) -> str:
        """What to do; empty when nobody needs to do anything."""
        if self.advice or self.passing or not isinstance(self.word, ReasonWord):
            return self.advice
        return self.word.advice


@dataclass(frozen=True, kw_only=True)
class Memory:
    """What must outlive the operator's process; kept in the group's status."""

    incarnation: IncarnationStatus | None
    """The incarnation that has, or is about to get, a leader pod."""
    operation: OperationStatus | None
    """The change of the EP size in flight."""
    failures: FailureStatus | None
    """The last failure, and when the next try is due."""
    joiners: tuple[JoinerStatus, ...] = ()
    """What was known of the incarnation's joiners."""
    move: MoveStatus | None = None
    """The incarnation that is to take over, if one is being made."""
    retiring: tuple[RetiringStatus, ...] = ()
    """The incarnations that are being ended in good order."""
    scale_down: ScaleDownStatus | None = None
    """A smaller size that was asked for, and since when."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The next safe step, or that there is none."""

    reason: Reason
    """What is going on; becomes the reason of ``Ready``."""
    memory: Memory
    actions: tuple[Action, ...] = ()
    resting: bool = False
    """Nothing is in progress, whether or not the wanted size is reached."""
    withheld: bool = False
    """Something would be done, and must not be."""
    draining: Reason | None = None
    """What an earlier incarnation is still about, while this one goes its way."""
    stalled: bool = False
    """Nothing more will happen until a human changes something."""
    limit: Reason | None = None
    """Why the wanted size cannot be reached now."""
    look_again: timedelta | None = None
    """When to look without being woken by an event."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is reported, then done, and when to look again.

    The status is written before the actions are carried out: an operation that the engine is
    asked for, or an incarnation that gets a pod, must be on record if we die in between.
    """

    status: GroupStatus
    actions: tuple[Action, ...] = ()
    look_again: timedelta | None = None
