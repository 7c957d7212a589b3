"""How a simulated engine behaves when nothing goes wrong: read from ELASTICEP_SIM_* variables.

Every field is a variable: `load_seconds` is ELASTICEP_SIM_LOAD_SECONDS.
Times are short by default, so that a demo is quick; the real engine's are named beside them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from simengine.faults import Fault
from simengine.validation import explain

PREFIX = "ELASTICEP_SIM_"

Seconds = Annotated[float, Field(ge=0)]


class SettingsError(ValueError):
    """A variable is unknown, missing or malformed; the text names it."""


class Settings(BaseModel):
    """Everything that is configurable about one simulated engine process."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    resolver: str
    """Address of the service that gives the real argument resolver's verdict."""
    version: str
    """The SGLang version whose resolver judges and whose behaviour is shown."""
    infiniband: tuple[str, ...] = ("mlx5_0",)
    """Device names this container would find under /sys/class/infiniband, comma separated."""
    load_seconds: Seconds = 2.0
    """Loading weights; minutes in reality."""
    connect_seconds: Seconds = 0.5
    """A registered joiner connects to every peer; the leader serves meanwhile."""
    join_seconds: Seconds = 0.5
    """Data plane and barrier of an admission; the leader's forward pass is blocked meanwhile."""
    token_seconds: Seconds = 0.02
    """One forward pass, that is one token of every running request."""
    max_running_requests: Annotated[int, Field(ge=1)] = 64
    """Requests in one forward pass; more wait in the queue."""
    dial_seconds: Seconds = 600.0
    """How long a joiner looks for its leader."""
    admission_seconds: Seconds = 300.0
    """How long a registered joiner waits to be admitted."""
    heartbeat_seconds: Annotated[float, Field(gt=0)] = 30.0
    """A rank that is silent for so long is lost."""
    health_poll_seconds: Annotated[float, Field(gt=0)] = 1.0
    """How often a health check looks whether its token came, and so the least time it takes."""
    health_timeout_seconds: Seconds = 20.0
    """A health check without a token for so long answers 503."""
    sigterm: Literal["engine", "prompt"] = "engine"
    """`engine`: only a serving leader heeds SIGTERM, as in reality.

    `prompt`: all others leave at once, where real ones are killed when their grace period is over.
    """
    sigterm_poll_seconds: Annotated[float, Field(gt=0)] = 0.5
    """How often a leader looks for SIGTERM and for the end of its requests; 5 in reality."""
    scheduler_exit_seconds: Seconds = 0.2
    """How long the schedulers take to go after the last request; up to 15 in reality."""
    state_dir: Path = Path("/dev/shm/elasticep-sim")  # noqa: S108  (a pod's memory volume)
    """Outlives a container but not its pod: the number of container starts is kept here."""
    faults: tuple[Fault, ...] = ()
    """Faults on tap, a JSON list; see testbed/docs/faults.md."""

    @field_validator("infiniband", mode="before")
    @classmethod
    def _split_names(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(name.strip() for name in value.split(",") if name.strip())
        return value

    @field_validator("faults", mode="before")
    @classmethod
    def _parse_list(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except json.JSONDecodeError as error:
            raise ValueError(f"must be a JSON list of faults: {error}") from error

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Read the variables that begin with the prefix.

        Raises:
            SettingsError: a variable is unknown, missing or malformed.

        """
        given = {
            name.removeprefix(PREFIX).lower(): value
            for name, value in environment.items()
            if name.startswith(PREFIX)
        }
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise SettingsError(explain(error, name_of=_variable)) from error


def _variable(field: str) -> str:
    return PREFIX + field.upper()
