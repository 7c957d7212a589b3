"""The control groups that hold each node, in both versions of the interface.

A node is in a group of its own and in a control-group namespace whose root that is: its kubelet
takes it for the whole machine, and does not ask its containerd about the containers of others.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from testbed.errors import TestbedError

_ROOT = Path("/sys/fs/cgroup")
_TOP = "eep"
# The node's own programs. Version 2 allows no process in a group that has groups with limits.
_PROGRAMS = "init"
# Version 1: a new group of this controller has no processors and no memory until it is told.
_INHERITED = ("cpuset.cpus", "cpuset.mems")
_REMOVE_SECONDS = 10.0

# Enters the groups that are named before `--`, and becomes the program after it.
_ENTER = 'until [ "$1" = -- ]; do echo $$ > "$1/cgroup.procs"; shift; done; shift; exec "$@"'


def create_node_cgroup(node: str) -> None:
    """The node's group exists in every hierarchy."""
    for hierarchy in hierarchies():
        parent = hierarchy
        for part in (_TOP, node, _PROGRAMS):
            group = parent / part
            group.mkdir(exist_ok=True)
            for setting in _INHERITED:
                if (parent / setting).exists() and not (group / setting).read_text("utf-8").strip():
                    (group / setting).write_text((parent / setting).read_text("utf-8"), "utf-8")
            parent = group


def entering(node: str, *, as_root: bool = False) -> list[str]:
    """The words that run a program in the node's group.

    As root it starts where the namespace that it then makes shall have its root.
    """
    groups = [each / _TOP / node for each in hierarchies()]
    if not as_root:
        groups = [each / _PROGRAMS for each in groups]
    return ["sh", "-c", _ENTER, "sh", *map(str, groups), "--"]


def settle(pid: int, *, node: str) -> None:
    """The process is among the node's programs."""
    for hierarchy in hierarchies():
        procs = hierarchy / _TOP / node / _PROGRAMS / "cgroup.procs"
        procs.write_text(str(pid), "utf-8")


def node_mounts(node: str) -> list[tuple[Path, Path]]:
    """What a node has to mount onto what, so that it sees only its own groups."""
    return [(each / _TOP / node, each) for each in hierarchies()]


def remove_cgroups(node: str | None = None) -> None:
    """Nothing of the node's group is left, or of all nodes'; its processes are killed.

    Raises TestbedError when the kernel does not let a group go: it takes a moment after a kill.
    """
    deadline = time.monotonic() + _REMOVE_SECONDS
    tops = our_cgroups() if node is None else [each / node for each in our_cgroups()]
    while left := [group for top in tops for group in _deepest_first(top)]:
        for group in left:
            _remove(group)
        if time.monotonic() > deadline:
            raise TestbedError(f"the control group {left[0]} does not go; see its cgroup.procs")
        time.sleep(0.02)


def our_cgroups() -> list[Path]:
    """The testbed's top group of each hierarchy that has one."""
    return [group for each in hierarchies() if (group := each / _TOP).is_dir()]


def hierarchies() -> list[Path]:
    """The one hierarchy of version 2, or each controller's of version 1, by its real path."""
    if (_ROOT / "cgroup.controllers").exists():
        return [_ROOT]
    found = {path.resolve() for path in _ROOT.iterdir() if (path / "cgroup.procs").exists()}
    return sorted(found)


def _remove(group: Path) -> None:
    with contextlib.suppress(OSError):
        for pid in (group / "cgroup.procs").read_text("utf-8").split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        group.rmdir()


def _deepest_first(top: Path) -> Iterator[Path]:
    if top.is_dir():
        for directory, _, _ in os.walk(top, topdown=False):
            yield Path(directory)
