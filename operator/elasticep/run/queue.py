"""Which group is looked at next, and when.

The rules are those of client-go's work queue: adding is idempotent; one key is never worked on
twice at once; a key that is added while it is worked on is worked on once more afterwards.

No clock and no tasks in here: times are seconds that the caller reads off one monotonic clock, so
that every order of events can be tested. `workers.py` brings both.
"""

import heapq
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from itertools import count
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class BackOff:
    """How long a key waits after failures in a row."""

    first_seconds: float = 0.25
    """After one failure. Most are a conflict with somebody else's write, over at once."""
    longest_seconds: float = 120.0
    spread: Callable[[], float] = field(default=lambda: 1.0)
    """A factor around 1, drawn anew each time: keys that failed together come back apart."""

    def seconds(self, failures: int) -> float:
        """The wait after the ``failures``-th failure in a row."""
        doublings = min(failures - 1, 32)
        return min(self.first_seconds * 2.0**doublings, self.longest_seconds) * self.spread()


@dataclass(frozen=True, kw_only=True)
class Work(Generic[K]):
    """A key that is being worked on."""

    key: K
    started: float
    waited: float
    """Seconds between the moment the key was due and the start."""


class WorkQueue(Generic[K]):
    """Keys that are due, keys that will be, and keys that are being worked on."""

    def __init__(self, *, back_off: BackOff) -> None:
        self._back_off = back_off
        self._due: dict[K, float] = {}  # in order of arrival, with its time
        self._dirty: dict[K, float] = {}  # added while being worked on
        self._active: dict[K, Work[K]] = {}
        self._later: dict[K, float] = {}
        self._alarms: list[tuple[float, int, K]] = []  # a heap; stale when not as in _later
        self._order = count()
        self._failures: dict[K, int] = {}

    @property
    def depth(self) -> int:
        """How many keys are due and not being worked on."""
        return len(self._due) + len(self._dirty)

    @property
    def active(self) -> int:
        """How many keys are being worked on."""
        return len(self._active)

    def add(self, key: K, *, now: float) -> bool:
        """The key is due. Tells whether that is news."""
        waiting = self._dirty if key in self._active else self._due
        if key in waiting:
            return False
        waiting[key] = now
        return True

    def add_at(self, key: K, *, when: float) -> None:
        """The key will be due at ``when``, or at an earlier time that was set before."""
        if when < self._later.get(key, float("inf")):
            self._later[key] = when
            heapq.heappush(self._alarms, (when, next(self._order), key))

    def take(self, *, now: float) -> Work[K] | None:
        """The key that has been due for longest, to be worked on now; nothing when none is due.

        What was set for later falls away: the work sees the world as it is now and says
        itself when to look again.
        """
        self._wake(now)
        if not self._due:
            return None
        key = next(iter(self._due))
        waited = now - self._due.pop(key)
        self._later.pop(key, None)
        work = Work(key=key, started=now, waited=waited)
        self._active[key] = work
        return work

    def succeeded(self, key: K, *, now: float, again_in: float | None = None) -> None:
        """The work on the key is done; its failures are forgotten."""
        self._failures.pop(key, None)
        if again_in is not None:
            self.add_at(key, when=now + again_in)
        self._end(key)

    def failed(self, key: K, *, now: float) -> float:
        """The work on the key failed. Returns the seconds until the next try.

        An event in the meantime is tried at once: it may be what the work was waiting for.
        """
        self._failures[key] = self._failures.get(key, 0) + 1
        wait = self._back_off.seconds(self._failures[key])
        self.add_at(key, when=now + wait)
        self._end(key)
        return wait

    def next_alarm(self) -> float | None:
        """When the next key will be due by itself; nothing when none is set for later."""
        while self._alarms and self._later.get(self._alarms[0][2]) != self._alarms[0][0]:
            heapq.heappop(self._alarms)
        return self._alarms[0][0] if self._alarms else None

    def longest_running_seconds(self, *, now: float) -> float:
        """How long ago the oldest work that has not ended began; 0 when there is none."""
        return now - min((work.started for work in self._active.values()), default=now)

    def unfinished_seconds(self, *, now: float) -> float:
        """The time spent so far on all that is being worked on."""
        return sum(now - work.started for work in self._active.values())

    def _wake(self, now: float) -> None:
        while (alarm := self.next_alarm()) is not None and alarm <= now:
            when, _, key = heapq.heappop(self._alarms)
            del self._later[key]
            self.add(key, now=when)

    def _end(self, key: K) -> None:
        del self._active[key]
        added = self._dirty.pop(key, None)
        if added is not None:
            self._due[key] = added
