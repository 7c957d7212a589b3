"""Everything that one decision rests on, read at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from elasticep.api.models import GroupSpec, GroupStatus
from elasticep.api.reasons import ReasonWord
from elasticep.world.engine import NOT_TRIED, Completion, EngineState, EngineUnknown, Hearing
from elasticep.world.pods import Pod


@dataclass(frozen=True, kw_only=True)
class SpecProblem:
    """The object's spec cannot be read as one; ``message`` names the field and the fix."""

    message: str


@dataclass(frozen=True, kw_only=True)
class Group:
    """One ElasticEPGroup as the API server holds it."""

    namespace: str
    name: str
    uid: str
    generation: int
    resource_version: str
    spec: GroupSpec | SpecProblem
    status: GroupStatus
    deleting: bool = False
    resume: str = ""
    """The value of the resume annotation: a new one lifts the last failure."""


@dataclass(frozen=True, kw_only=True)
class Existing:
    """An object under a name that the group needs."""

    owner_uid: str
    """The UID of its controller; empty when nobody controls it."""
    content: Mapping[str, Any]

    @property
    def leaving(self) -> bool:
        """Whether someone has asked for its deletion."""
        return "deletionTimestamp" in self.content["metadata"]


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An action that was carried out and refused, with the words of whoever refused it."""

    subject: str
    """What it was about: an object's name, or the EP size asked for."""
    reason: ReasonWord
    message: str
    by_engine: bool = False
    """Whether the engine refused it, and not the API server."""
    lasting: bool = False
    """Whether the same request would be refused again, whatever time it is made."""


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The group, its pods, its surroundings, its engines, and the time."""

    group: Group
    pods: tuple[Pod, ...]
    now: datetime
    engine: EngineState | EngineUnknown
    """That of the incarnation on record."""
    completion: Completion = NOT_TRIED
    successor: Hearing | None = None
    """The engine that is to take over; nothing while it has no leader that runs."""
    loads: Mapping[str, int] = field(default_factory=dict)
    """Requests that a retiring incarnation has not answered, by its id; without those of which
    that is unknown."""
    surroundings: Mapping[str, Existing] = field(default_factory=dict)
    """By kind, what stands under the names of the objects that are kept around the pods."""
    admin_key_secret: Existing | None = None
    refusals: tuple[Refusal, ...] = ()
