"""The words of the scale protocol: phases, texts and the values that the state machine speaks in.

The texts are the engine's, because operators match on them: `srt/managers/scheduler.py` and
`srt/model_executor/model_runner.py` of SGLang 0.5.19 to 0.5.23.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus


class Phase(StrEnum):
    """Where a scale operation stands, in the engine's own words."""

    IDLE = "idle"
    WAITING_FOR_COHORT = "waiting_for_cohort"
    PENDING = "pending"
    JOINING = "joining"
    CONFIGURING_DATA_PLANE = "configuring_data_plane"
    SYNCING_NEW_WORLD = "syncing_new_world"
    SERVING_EXPANDED = "serving_expanded"
    FAILED = "failed"
    RECOVERY_UNSUPPORTED = "recovery_unsupported"
    # Only where the engine can shrink (sglang pull request 33111).
    DRAINING = "draining"
    RETIRING = "retiring"
    RECONFIGURING = "reconfiguring"
    SERVING_SHRUNK = "serving_shrunk"
    WARMING_UP = "warming_up"


STILL_PENDING = (
    "A previous scale operation has not completed yet. Wait until "
    "all pending ranks have joined before issuing another scale."
)
NOT_QUEUED = "Failed to queue elastic EP scale: no elastic state or scale already pending."
RECOVERY_IS_UNSUPPORTED = (
    "Elastic EP rank recovery is unsupported after runtime scale-up. "
    "Restart the expanded deployment."
)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The sizes fixed at launch; `scale_timeout` is in seconds."""

    launch_size: int
    max_size: int
    scale_timeout: float = 600.0


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An HTTP status and JSON body."""

    status: int
    body: dict[str, object]

    @property
    def accepted(self) -> bool:
        """Whether the request was taken on."""
        return self.status == HTTPStatus.OK


@dataclass(frozen=True, kw_only=True)
class Admission:
    """The ranks [offset, target) are to be admitted now: synchronise with them, then commit."""

    offset: int
    target: int


@dataclass(frozen=True, kw_only=True)
class Happened:
    """Something that the engine would log; `error` says at which level."""

    message: str
    error: bool = False


@dataclass
class Mirror:
    """What the HTTP front end believes."""

    effective: int
    pending: int | None = None
    phase: str = Phase.IDLE
    last_error: str | None = None

    def report(self) -> dict[str, object]:
        """The body of GET /is_scaling_elastic_ep."""
        return {
            "is_scaling_elastic_ep": self.pending is not None,
            "effective_ep_size": self.effective,
            "pending_ep_size": self.pending,
            "scale_phase": self.phase,
            "last_error": self.last_error,
        }
