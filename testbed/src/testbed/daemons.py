"""The long-lived processes of the cluster: started, found again and ended.

A process of ours is known by a mark in its environment, which it hands down to its children.
The mark is there from the first instruction on: no moment exists at which a killed driver has
started something that nobody knows of, as there is between a fork and the write of a pid file; and
a pid that was used again by somebody else does not carry it.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from testbed.commands import MARK, marked
from testbed.errors import TestbedError, last_lines

_END_SECONDS = 30.0
_PATIENCE_SECONDS = 5.0
_POLL_SECONDS = 0.02


@dataclass(frozen=True, kw_only=True)
class Process:
    """A running process that carries the testbed's mark; `started` in ticks since boot."""

    pid: int
    parent: int
    started: int
    name: str
    command: str
    resident_bytes: int

    @property
    def waits_for_another(self) -> bool:
        """It is the nsenter or unshare in front of a program in other namespaces."""
        return self.command.startswith(("nsenter ", "unshare "))


def start(name: str, argv: Sequence[str | Path], *, state: Path) -> "Daemon":
    """The program runs, in a session of its own, and writes to `logs/NAME.log`."""
    log = state / "logs" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    words = [str(word) for word in argv]
    # Not a Popen: that complains when it is forgotten while its program runs on, as is meant here.
    pid = os.posix_spawnp(
        words[0],
        words,
        marked(name, state=state),
        setsid=True,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
    )
    return Daemon(name=name, log=log, pid=pid)


@dataclass(frozen=True, kw_only=True)
class Daemon:
    """A program that this process has started."""

    name: str
    log: Path
    pid: int

    def wait_until(self, ready: Callable[[], bool], *, seconds: float, what: str) -> None:
        """It became ready.

        Raises TestbedError with the end of its log when it ended instead, or took too long.
        """
        deadline = time.monotonic() + seconds
        while not ready():
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                raise TestbedError(f"{self.name} ended with {code}\n{last_lines(self.log)}")
            if time.monotonic() > deadline:
                raise TestbedError(
                    f"{self.name}: no {what} within {seconds:.0f} s\n{last_lines(self.log)}"
                )
            time.sleep(_POLL_SECONDS)


def find(*, state: Path) -> list[Process]:
    """Every process that carries the mark of the testbed in `state`, in order of pid."""
    mark = f"{MARK}={state}:".encode()
    return sorted(_marked_processes(mark), key=lambda process: process.pid)


def _marked_processes(mark: bytes) -> Iterator[Process]:
    for directory in Path("/proc").iterdir():
        # A process may end between any two of these reads, and others' cannot be read by all.
        if directory.name.isdigit():
            with contextlib.suppress(OSError):
                found = _read(directory, mark=mark)
                if found is not None:
                    yield found


def _read(directory: Path, *, mark: bytes) -> Process | None:
    names = [
        variable.removeprefix(mark).decode()
        for variable in (directory / "environ").read_bytes().split(b"\0")
        if variable.startswith(mark)
    ]
    fields = _stat(directory)
    if not names or fields is None:
        return None
    words = (directory / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
    return Process(
        pid=int(directory.name),
        parent=int(fields[1]),
        started=int(fields[19]),
        name=names[0],
        command=" ".join(word.decode(errors="replace") for word in words),
        resident_bytes=int(fields[21]) * os.sysconf("SC_PAGE_SIZE"),
    )


def _stat(directory: Path) -> list[str] | None:
    """What the kernel tells of a process, from its state on; None when it has ended.

    The command's name, before that, stands in parentheses and may hold spaces and parentheses.
    """
    fields = (directory / "stat").read_text("utf-8").rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields


def ancestors() -> set[int]:
    """This process and all that it descends from."""
    found = set()
    pid = os.getpid()
    while pid > 0 and pid not in found:
        found.add(pid)
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        pid = int(fields[1])
    return found


def end(chosen: Callable[[Process], bool], *, state: Path) -> int:
    """None of the chosen processes runs any more; the answer is how many did.

    They are killed: nothing that they keep outlives them, and a port is free at once.
    Raises TestbedError when the kernel does not let one go.
    """
    deadline = time.monotonic() + _END_SECONDS
    killed: dict[int, Process] = {}
    while left := [each for each in find(state=state) if chosen(each)] or _dying(killed.values()):
        if time.monotonic() > deadline:
            stuck = ", ".join(f"{process.name} ({process.pid})" for process in left)
            raise TestbedError(f"these processes do not end: {stuck}")
        # What only waits ends by itself, and has to: a namespace of processes is not gone until all
        # in it are buried, and without nsenter that is left to this machine's process 1, which
        # in a container may be one that buries nobody.
        patient = time.monotonic() < deadline - _END_SECONDS + _PATIENCE_SECONDS
        for process in left:
            if not (patient and process.waits_for_another):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
            killed[process.pid] = process
        time.sleep(_POLL_SECONDS)
    for pid in killed:
        # Our own children stay as zombies until somebody asks for how they ended.
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    return len(killed)


def _dying(processes: Iterable[Process]) -> list[Process]:
    """Those that are not gone yet: a killed process loses its environment, and its mark, first.

    A node's process 1 is in that state until all others of the node are gone.
    """
    found = []
    for process in processes:
        with contextlib.suppress(OSError):
            fields = _stat(Path(f"/proc/{process.pid}"))
            if fields is not None and int(fields[19]) == process.started:
                found.append(process)
    return found
