"""What is mounted on this machine."""

from pathlib import Path

NETNS = Path("/run/netns")


def mount_points() -> list[Path]:
    """Every mount point, in the order in which they were made.

    Not `Path.is_mount`: that does not see a directory that is mounted onto itself, as `ip netns`
    does with its own.
    """
    lines = Path("/proc/self/mounts").read_text("utf-8").splitlines()
    return [Path(line.split()[1]) for line in lines]
