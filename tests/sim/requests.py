"""What clients have asked an engine for, until it has answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class Request:
    """One that takes its time, on one rank."""

    rank: int
    answered_at: datetime


@dataclass(eq=False)
class Requests:
    """Those that one engine has taken."""

    taken: list[Request] = field(default_factory=list)

    def take(self, count: int, *, ranks: int, answered_at: datetime) -> None:
        """So many more, one rank after the other."""
        begun = len(self.taken)
        self.taken += [Request((begun + i) % ranks, answered_at) for i in range(count)]

    def unanswered(self, now: datetime) -> int:
        """How many are not answered in full."""
        self.taken = [each for each in self.taken if each.answered_at > now]
        return len(self.taken)

    def busy_ranks(self, now: datetime) -> set[int]:
        """The ranks that work on one."""
        return {each.rank for each in self.taken if each.answered_at > now}

    def next_answer(self) -> datetime | None:
        """When the next of them is answered."""
        return min((each.answered_at for each in self.taken), default=None)
