"""What SGLang says of a command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How the engine's process would end at start, or what it would start with.

    `output` is all that it would print; `resolved` are its final settings by field name, None
    when it refuses the line.
    """

    exit_code: int
    output: str
    resolved: Mapping[str, Any] | None

    @property
    def accepted(self) -> bool:
        """True when the engine would go on to load the model."""
        return self.resolved is not None

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Verdict:
        """Read what `as_json` wrote."""
        return cls(exit_code=body["exit_code"], output=body["output"], resolved=body["resolved"])

    def as_json(self) -> dict[str, Any]:
        """The verdict as the service answers it."""
        return {
            "accepted": self.accepted,
            "exit_code": self.exit_code,
            "output": self.output,
            "resolved": self.resolved,
        }
