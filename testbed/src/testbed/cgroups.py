"""The control groups that hold the nodes' containers, in both versions of the interface."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from testbed.addresses import CGROUP
from testbed.errors import TestbedError

_ROOT = Path("/sys/fs/cgroup")
# Version 1: a new group of this controller has no processors and no memory until it is told.
_INHERITED = ("cpuset.cpus", "cpuset.mems")


def create_cgroup(name: str) -> None:
    """The group exists under every controller."""
    for hierarchy in _hierarchies():
        parent = hierarchy
        for part in name.split("/"):
            group = parent / part
            group.mkdir(exist_ok=True)
            for setting in _INHERITED:
                if (parent / setting).exists() and not (group / setting).read_text("utf-8").strip():
                    (group / setting).write_text((parent / setting).read_text("utf-8"), "utf-8")
            parent = group


def remove_cgroups() -> bool:
    """No group of the testbed is left; the answer is whether one was.

    Raises TestbedError when one still has processes.
    """
    tops = our_cgroups()
    for top in tops:
        for group in sorted(_below(top), key=lambda path: len(path.parts), reverse=True):
            try:
                group.rmdir()
            except OSError as refused:
                raise TestbedError(f"the control group {group} does not go: {refused}") from None
    return bool(tops)


def our_cgroups() -> list[Path]:
    """The testbed's top group of each hierarchy that has one."""
    return [group for each in _hierarchies() if (group := each / CGROUP).is_dir()]


def _below(top: Path) -> Iterator[Path]:
    yield top
    yield from (path for path in top.rglob("*") if path.is_dir())


def _hierarchies() -> list[Path]:
    """The one hierarchy of version 2, or each controller's of version 1, by its real path."""
    if (_ROOT / "cgroup.controllers").exists():
        return [_ROOT]
    found = set()
    with contextlib.suppress(FileNotFoundError):
        found = {path.resolve() for path in _ROOT.iterdir() if (path / "cgroup.procs").exists()}
    return sorted(found)
