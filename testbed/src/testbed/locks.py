"""One at a time, across processes; a lock ends with the process that held it."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from testbed.errors import TestbedError


@contextmanager
def only_one(path: Path, *, doing: str) -> Iterator[None]:
    """Hold the lock at `path`, or say at once who else holds it.

    Raises TestbedError naming the other process.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            held.seek(0)
            holder = held.read().strip() or "another process"
            raise TestbedError(
                f"{holder} is at work on this testbed; wait until it ends ({path} is its lock)"
            ) from None
        held.truncate(0)
        held.write(f"process {os.getpid()} (testbed {doing})")
        held.flush()
        try:
            yield
        finally:
            held.truncate(0)


@contextmanager
def in_turn(path: Path) -> Iterator[None]:
    """Hold the lock at `path`, waiting for it: for work whose result the next one can use."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
