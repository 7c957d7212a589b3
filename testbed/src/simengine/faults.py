"""Faults on tap: what a simulated engine does wrong, for whom and how often.

A fault is a JSON object: `do` names it, `when` says to whom it happens, the rest are its details.
All pods of a group share one template, so `when` picks a role and a rank offset.
testbed/docs/faults.md has examples of each.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, model_validator
from pydantic.alias_generators import to_camel

from simengine.signatures import Signature

Role = Literal["leader", "joiner"]
Stage = Literal["start", "rendezvous", "load", "register", "join", "serving", "leader_lost"]
Route = Literal["scale", "status", "health", "completions", "metrics"]
Seconds = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]


class Spec(BaseModel):
    """Written in camelCase, as Kubernetes objects are; an unknown key is an error."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True
    )


class Identity(BaseModel):
    """Who a process is: its role and rank offset, and how often it has been tried.

    `start` counts container starts in this pod, from 1.
    `attempt` counts joiners that dialled this leader with this offset, from 1; 0 before dialling.
    """

    model_config = ConfigDict(frozen=True)

    role: Role
    offset: int = 0
    start: int = 1
    attempt: int = 0


class When(Spec):
    """To whom a fault happens; what is left out matches everyone."""

    role: Role | None = None
    offset: Annotated[int, Field(ge=0)] | None = None
    first_starts: Count | None = None
    """Only in the first N container starts of a pod."""
    first_attempts: Count | None = None
    """Only to the first N joiners that one leader's life has seen at that offset."""

    def matches(self, who: Identity) -> bool:
        """Whether the fault is meant for this process."""
        return (
            self.role in (None, who.role)
            and self.offset in (None, who.offset)
            and (self.first_starts is None or who.start <= self.first_starts)
            and (self.first_attempts is None or 0 < who.attempt <= self.first_attempts)
        )


class _Fault(Spec):
    when: When = When()


class Crash(_Fault):
    """Print a text and die at a stage of the process's life."""

    do: Literal["crash"]
    stage: Stage
    after_seconds: Seconds = 0.0
    signature: Signature | None = None
    log: str | None = None
    exit_code: Annotated[int, Field(ge=0, le=255)] | None = None
    """Unset: as the engine dies, which is exit code 0 for the first process of a container."""
    exhaust_memory: bool = False
    """Fill the container's memory limit, so that the kernel kills it (OOMKilled)."""

    @model_validator(mode="after")
    def _one_text(self) -> Crash:
        if self.signature is not None and self.log is not None:
            raise ValueError(
                "give `signature` (a text known by name) or `log` (your own), not both"
            )
        return self


class Hang(_Fault):
    """Stop for ever at a stage: connections stay open, nothing answers, SIGTERM is not seen."""

    do: Literal["hang"]
    stage: Stage
    after_seconds: Seconds = 0.0


class AnswerWith(_Fault):
    """Answer a route with this status and body, without doing anything."""

    do: Literal["answer"]
    route: Route
    status: Annotated[int, Field(ge=100, le=599)] = 500
    body: JsonValue = None
    times: Count | None = None


class Reset(_Fault):
    """Reset the connection of a request, after it was accepted or instead of reading it."""

    do: Literal["reset"]
    route: Route
    accept: bool = True
    times: Count | None = None


class Slow(_Fault):
    """Wait before answering a route."""

    do: Literal["slow"]
    route: Route
    seconds: Seconds
    times: Count | None = None


class ShowPhase(_Fault):
    """Report this word as the scale phase, whatever the true one is."""

    do: Literal["show_phase"]
    phase: Annotated[str, Field(min_length=1)]


class LoseRank(_Fault):
    """A rank stops answering, as after a GPU fault, while every process stays up."""

    do: Literal["lose_rank"]
    rank: Annotated[int, Field(ge=0)]
    after_seconds: Seconds = 0.0


class AfterRankLoss(_Fault):
    """What requests meet once a rank is lost; without this fault they fail."""

    do: Literal["after_rank_loss"]
    requests: Literal["fail", "hang", "serve"]


class NativeShrink(_Fault):
    """The engine can retire its last ranks (sglang pull request 33111)."""

    do: Literal["native_shrink"]
    safe_after_seconds: Seconds = 0.0
    """From the smaller size being served until the retired ranks may end."""
    shown: bool = True
    """Whether the status has `safe_to_terminate_ranks`, by which support is known."""
    refused: bool = False
    """Whether a smaller size is refused all the same."""


class Timing(_Fault):
    """Other durations than the settings say, for those whom `when` picks."""

    do: Literal["timing"]
    load_seconds: Seconds | None = None
    connect_seconds: Seconds | None = None
    join_seconds: Seconds | None = None
    token_seconds: Seconds | None = None
    admission_seconds: Seconds | None = None

    def changes(self) -> dict[str, float]:
        """The settings it changes."""
        return self.model_dump(exclude={"do", "when"}, exclude_none=True)


Fault = Annotated[
    Crash
    | Hang
    | AnswerWith
    | Reset
    | Slow
    | ShowPhase
    | LoseRank
    | AfterRankLoss
    | NativeShrink
    | Timing,
    Field(discriminator="do"),
]

RouteFault = AnswerWith | Reset | Slow
StageFault = Crash | Hang

FAULTS: TypeAdapter[tuple[Fault, ...]] = TypeAdapter(tuple[Fault, ...])
