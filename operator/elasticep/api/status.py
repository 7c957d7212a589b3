"""The status of an ElasticEPGroup: what the operator reports."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from elasticep.api.fields import INT64, ApiModel, Excerpt, Sentence, Word, list_map


class JoinerState(StrEnum):
    """How far one joiner has come."""

    PENDING = "Pending"
    LOADING = "Loading"
    JOINED = "Joined"
    RETIRED = "Retired"


class ConditionStatus(StrEnum):
    """The three values of a condition."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class Condition(ApiModel):
    """One observation about the group, in the form of metav1.Condition."""

    type: Word
    """What the condition is about."""

    status: ConditionStatus
    """Whether it holds."""

    reason: Word
    """Why, in one CamelCase word that does not change between releases."""

    message: Sentence = ""
    """Why, in a sentence for people."""

    observed_generation: Annotated[int, Field(json_schema_extra=INT64)] = 0
    """The metadata.generation that the condition was judged by."""

    last_transition_time: datetime
    """When status last changed from one value to another."""


class EPSizeStatus(ApiModel):
    """Expert-parallel sizes, in ranks."""

    desired: int = 0
    """The size that spec asks for: leader.ranks + (replicas - 1) x joiner.ranks."""

    effective: int | None = None
    """The size that the engine serves with now; absent while the engine cannot be asked."""

    pending: int | None = None
    """The size that the engine is growing to, if any."""


class IncarnationStatus(ApiModel):
    """The life of the engine that serves, or is about to."""

    id: Word
    """The incarnation's id, which its pods bear in a label."""

    serial: int
    """How many incarnations the group has had, this one included."""

    leader_uid: Annotated[Word | None, Field(alias="leaderUID")] = None
    """The UID of the leader pod."""

    template_hash: Word
    """A hash of all in spec that shapes the pods."""

    started_at: datetime | None = None
    """When the leader's engine container started."""


class JoinerStatus(ApiModel):
    """One joiner of the incarnation."""

    pod: Word
    """The pod's name."""

    uid: Word
    """The pod's UID."""

    offset: int
    """The first rank that it adds."""

    ranks: int
    """How many ranks it adds."""

    state: JoinerState
    """How far it has come."""

    restarts: int = 0
    """How often a container of it was restarted before it joined; a later one is a loss."""


class OperationStatus(ApiModel):
    """A change of the EP size in flight; written before the engine is asked for it."""

    kind: Literal["Grow", "Shrink"] = "Grow"
    """What is being done."""

    from_: Annotated[int, Field(alias="from")]
    """The EP size before."""

    to: int
    """The EP size that is asked for."""

    phase: Word
    """How far it has come; once the engine works on it, the engine's own word."""

    started_at: datetime
    """When it began."""

    deadline: datetime
    """When it counts as overdue."""

    message: Sentence = ""
    """What is waited for."""


class MoveKind(StrEnum):
    """Why an incarnation gives way."""

    SCALE_DOWN = "ScaleDown"
    ROLL_OUT = "RollOut"
    RECOVER = "Recover"
    STOP = "Stop"
    DROP = "Drop"


class MoveStatus(ApiModel):
    """A second incarnation that is started beside the serving one, to take its place."""

    kind: MoveKind
    """Why there is to be another incarnation."""

    successor: IncarnationStatus
    """The incarnation that is to take over."""

    after: int
    """The serial of the incarnation that it takes over from."""

    joiners: Annotated[
        tuple[JoinerStatus, ...], Field(max_length=1024, json_schema_extra=list_map("pod"))
    ] = ()
    """The successor's joiners, in the order of their offsets."""

    operation: OperationStatus | None = None
    """The change of the successor's EP size in flight, if any."""

    started_at: datetime
    """When it began."""

    message: Sentence = ""
    """What it is for."""


class RetiringStatus(ApiModel):
    """An incarnation that is being ended: no new requests reach it, those it has are finished."""

    id: Word
    """The incarnation's id, which its pods bear in a label."""

    serial: int
    """How many incarnations the group had had with it."""

    kind: MoveKind
    """Why it gives way."""

    ends_first: bool = False
    """Whether its successor is not begun before it is gone; nothing serves in between."""

    served: bool = True
    """Whether it may have requests to answer."""

    since: datetime | None = None
    """When it was seen to be out of the Service; absent before."""

    deadline: datetime | None = None
    """When it is ended, finished or not."""

    message: Sentence = ""
    """Why it is ended."""


class ScaleDownStatus(ApiModel):
    """A smaller EP size that was asked for and is not acted on yet."""

    ep_size: Annotated[int, Field(alias="epSize")]
    """The EP size that is asked for."""

    since: datetime
    """Since when no more than that has been asked for."""

    refusal: Sentence = ""
    """Why the engine would not give ranks back itself, once it has refused."""


class FailureStatus(ApiModel):
    """What has failed last, and when it is tried again."""

    reason: Word
    """What failed, in one CamelCase word that does not change between releases."""

    count: int = 1
    """How often it has failed in a row."""

    interrupted: int = 0
    """How often the pods had failed in a row, before there was no room to try them again."""

    last_exit_code: int | None = None
    """The exit code of the container that failed last."""

    message: Sentence = ""
    """What failed, in a sentence for people."""

    advice: Sentence = ""
    """What to do about it."""

    excerpt: Excerpt = ""
    """The end of the failed container's log, saved before its pod went."""

    last_failure_at: datetime
    """When it failed last."""

    template_hash: Word = ""
    """The template hash of the pods that failed; another one is tried at once."""

    resume: Word = ""
    """Stands for the resume annotation's value when it failed; another one lifts the failure."""

    next_retry_at: datetime | None = None
    """When it is tried again; absent when that takes another spec or another resume annotation."""


class GroupStatus(ApiModel):
    """What the operator reports; it is its only writer."""

    observed_generation: Annotated[int, Field(json_schema_extra=INT64)] = 0
    """The metadata.generation that this status was made from."""

    conditions: Annotated[
        tuple[Condition, ...], Field(max_length=16, json_schema_extra=list_map("type"))
    ] = ()
    """The group's conditions, one per type."""

    selector: Annotated[str, Field(max_length=512)] = ""
    """The label selector of the pods that replicas counts; for autoscalers."""

    replicas: int = 0
    """Pods that exist now."""

    ready_replicas: int = 0
    """Pods whose ranks serve now."""

    ep_size: EPSizeStatus = EPSizeStatus()
    """Expert-parallel sizes, in ranks."""

    incarnation: IncarnationStatus | None = None
    """The life of the engine that serves, or is about to."""

    joiners: Annotated[
        tuple[JoinerStatus, ...], Field(max_length=1024, json_schema_extra=list_map("pod"))
    ] = ()
    """The joiners of the incarnation, in the order of their offsets."""

    operation: OperationStatus | None = None
    """The change of the EP size in flight, if any."""

    move: MoveStatus | None = None
    """A second incarnation that is started beside the serving one, if there is one."""

    retiring: Annotated[
        tuple[RetiringStatus, ...], Field(max_length=16, json_schema_extra=list_map("id"))
    ] = ()
    """Incarnations that are being ended."""

    scale_down: ScaleDownStatus | None = None
    """A smaller EP size that was asked for and is not acted on yet."""

    failures: FailureStatus | None = None
    """What has failed last, for some ten minutes; longer while it stands in the way."""

    def condition(self, kind: str) -> Condition | None:
        """The condition of that type; nothing before the first report."""
        return next((each for each in self.conditions if each.type == kind), None)

    def holds(self, kind: str) -> bool:
        """Whether the condition of that type is known to be True."""
        found = self.condition(kind)
        return found is not None and found.status is ConditionStatus.TRUE
