"""A machine apart: this one's files and programs, but a network, mounts, processes, control groups
of its own. A testbed can come and go in it while another one is up, and what it leaves can be seen.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from testbed.cgroups import hierarchies

_NAMESPACES = ("--mount", "--net", "--pid", "--cgroup", "--uts")
_TESTBED = (sys.executable, "-m", "testbed")
# What a testbed may touch, told in a way that two tellings can be compared.
_TRACES = {
    "namespaces": "ls /run/netns 2>/dev/null || true",
    "links": "ip -brief link | cut -d' ' -f1",
    "addresses": "ip -brief address",
    "routes": "ip route",
    "mounts": "cut -d' ' -f1-4 /proc/self/mounts",
    "packet filter": "nft list tables",
    "control groups": "find /sys/fs/cgroup/ -type d",
    "forwarding": "cat /proc/sys/net/ipv4/ip_forward",
    "settings": "cat /proc/sys/kernel/panic /proc/sys/kernel/panic_on_oops "
    "/proc/sys/vm/overcommit_memory /proc/sys/vm/panic_on_oom",
    "containerd": "ls -A /run/containerd /var/lib/containerd /opt/containerd 2>/dev/null || true",
    "kubelet": "ls -A /var/lib/kubelet /var/lib/cni /var/log/pods 2>/dev/null || true",
}


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine apart, with a directory for the state of its testbed."""

    init: int
    state: Path

    def run(self, *words: str, seconds: float = 120.0) -> "subprocess.CompletedProcess[str]":
        """How a program ended there."""
        return subprocess.run(
            [*self._enter(), *words],
            check=False,
            capture_output=True,
            text=True,
            env=self._env(),
            timeout=seconds,
        )

    def testbed(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """How the testbed command ended there."""
        return self.run(*_TESTBED, *words)

    def traces(self) -> dict[str, str]:
        """What is there that a testbed could have left."""
        found = {what: self.run("sh", "-c", how).stdout for what, how in _TRACES.items()}
        programs = self.run("ps", "-A", "-o", "args=").stdout.splitlines()
        # The machine's first process buries no dead: those that lost their parents stay as names.
        alive = [
            each for each in programs if not each.startswith("ps ") and "<defunct>" not in each
        ]
        found["processes"] = "\n".join(alive)
        found["state"] = str(self.state.exists())
        return found

    def kill_driver_when(self, said: str, *words: str) -> str:
        """Run the testbed command and kill it the moment that it says so; what it had said."""
        driver = subprocess.Popen(
            [*self._enter(), *_TESTBED, *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=self._env(),
            start_new_session=True,
        )
        heard = ""
        with driver:
            assert driver.stderr is not None
            for line in driver.stderr:
                heard += line
                if said in line:
                    # nsenter and the driver are one group; what the driver starts is not in it.
                    os.killpg(driver.pid, signal.SIGKILL)
                    break
        return heard

    def _enter(self) -> list[str]:
        return ["nsenter", f"--target={self.init}", *_NAMESPACES]

    def _env(self) -> dict[str, str]:
        return {**os.environ, "ELASTICEP_STATE": str(self.state)}


@contextmanager
def machine_apart(*, name: str, state: Path) -> Iterator[Machine]:
    """A machine of its own until the block ends; whatever runs in it then ends too."""
    groups = [_make_group(hierarchy, name=name) for hierarchy in hierarchies()]
    setup = "; ".join(
        [
            *(f"echo $$ > {group}/cgroup.procs" for group in groups),
            f"exec unshare {' '.join(_NAMESPACES)} --fork --kill-child --mount-proc sleep infinity",
        ]
    )
    outer = subprocess.Popen(["sh", "-c", setup])
    try:
        machine = Machine(init=_first_child(outer.pid), state=state)
        _furnish(machine, groups=groups)
        yield machine
    finally:
        outer.kill()
        outer.wait()
        for group in groups:
            _remove_group(group)


def _furnish(machine: Machine, *, groups: Sequence[Path]) -> None:
    for group in groups:
        machine.run("mount", "--bind", str(group), str(group.parent))
    # This machine's own named namespaces, if it has any, and its sockets are out of sight.
    machine.run("umount", "--recursive", "--lazy", "/run/netns")
    machine.run("mount", "-t", "tmpfs", "tmpfs", "/run")
    machine.run("ip", "link", "set", "lo", "up")


def _first_child(parent: int) -> int:
    children = Path(f"/proc/{parent}/task/{parent}/children")
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        found = children.read_text().split()
        if found and "sleep" in Path(f"/proc/{found[0]}/cmdline").read_text():
            return int(found[0])
        time.sleep(0.01)
    raise AssertionError("the machine's first process did not start")


def _make_group(hierarchy: Path, *, name: str) -> Path:
    group = hierarchy / re.sub(r"\W", "-", name)
    # A test run that was killed outright left its group, maybe with its programs still running.
    _end_programs(group)
    _remove_group(group)
    group.mkdir()
    for setting in ("cpuset.cpus", "cpuset.mems"):
        if (hierarchy / setting).exists() and not (group / setting).read_text().strip():
            (group / setting).write_text((hierarchy / setting).read_text())
    return group


def _end_programs(group: Path) -> None:
    for programs in group.rglob("cgroup.procs"):
        for program in programs.read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(program), signal.SIGKILL)


def _remove_group(group: Path) -> None:
    deadline = time.monotonic() + 10
    while group.exists():
        for directory, _, _ in os.walk(group, topdown=False):
            try:
                Path(directory).rmdir()
            except OSError:
                assert time.monotonic() < deadline, f"{directory} is still in use"
        time.sleep(0.01)
