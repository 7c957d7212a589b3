"""How long each step took, and how much of it the operator is to blame for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from rich.table import Table


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of the demo that has no engine's share to take off."""

    title: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Joining:
    """One joiner, from the moment the group served with the size before it. In seconds.

    `load` and `join` are the engine's own work, by its own record; `pod_start` is the time from
    the beginning until the engine's process ran.
    """

    old: int
    new: int
    wall: float
    load: float
    join: float
    pod_start: float

    @property
    def added(self) -> float:
        """What came on top of the engine's own work."""
        return self.wall - self.load - self.join


def joinings(
    *, served_at: Mapping[int, float], operations: Sequence[Mapping[str, Any]]
) -> list[Joining]:
    """One entry for each size that was grown to.

    `served_at` says since when each EP size has been served, and `operations` is the simulated
    engine's record of scale requests; both in seconds since the epoch.
    """
    found = []
    for operation in operations:
        old, new = operation["old"], operation["target"]
        if operation["completed_at"] is None or old not in served_at or new not in served_at:
            continue
        started = operation["cohort_registered_at"] - operation["load_seconds"]
        found.append(
            Joining(
                old=old,
                new=new,
                wall=served_at[new] - served_at[old],
                load=operation["load_seconds"],
                join=operation["join_seconds"],
                pod_start=started - served_at[old],
            )
        )
    return found


def table(steps: Sequence[Step], joined: Sequence[Joining]) -> Table:
    """All steps in their order; the columns on the right are for joiners."""
    result = Table(box=None, pad_edge=False, header_style="dim")
    result.add_column("step", no_wrap=True)
    for heading in ("took", "engine loads", "engine joins", "added", "of it, pod start"):
        result.add_column(heading, justify="right", no_wrap=True)
    for step in steps:
        result.add_row(step.title, _seconds(step.seconds))
    for each in joined:
        result.add_row(
            f"joiner: EP {each.old} → {each.new}",
            *map(_seconds, (each.wall, each.load, each.join, each.added, each.pod_start)),
        )
    return result


def median_added(joined: Sequence[Joining]) -> float:
    """The middle of what was added to the engine's own work."""
    return median(each.added for each in joined)


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"
