"""The system packages that the nodes and images need, from Debian's archive."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from testbed.commands import run
from testbed.errors import TestbedError
from testbed.places import Places
from testbed.progress import Report

# What is looked for, and the package that brings it.
_NEEDED = {
    "/usr/bin/buildah": "buildah",
    "/usr/bin/containerd": "containerd",
    "/usr/lib/cni/ptp": "containernetworking-plugins",
    "/usr/sbin/conntrack": "conntrack",
    "/usr/bin/ip": "iproute2",
    "/usr/bin/mmdebstrap": "mmdebstrap",
    "/usr/sbin/nft": "nftables",
    "/usr/sbin/runc": "runc",
    "/usr/bin/nsenter": "util-linux",
}
# Debian starts it when it is installed; the testbed starts one of its own on each node.
_DISTRO_SERVICES = ("containerd.service",)


def missing_packages() -> list[str]:
    """The packages that bring what this machine lacks."""
    return sorted({package for path, package in _NEEDED.items() if not Path(path).exists()})


def install_packages(*, places: Places, report: Report) -> None:
    """Everything needed is installed.

    Raises TestbedError when something is missing that this user may not install.
    """
    missing = missing_packages()
    if not missing:
        return
    apt = _apt(missing)
    log = places.logs / "packages.log"
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with report.step(f"installing {' '.join(missing)}") as step:
        step.at("apt-get update")
        run([*apt, "update"], log=log, env=env)
        step.at("apt-get install")
        run([*apt, "install", "--yes", "--no-install-recommends", *missing], log=log, env=env)
        _stop_distro_services()
    still = missing_packages()
    if still:
        raise TestbedError(f"apt-get installed {still} but not at the usual paths; see {log}")


def _apt(missing: Sequence[str]) -> list[str]:
    wanted = f"apt-get install {' '.join(missing)}"
    if shutil.which("apt-get") is None:
        raise TestbedError(
            f"this machine has no apt-get; install what Debian calls {' '.join(missing)}"
        )
    if os.geteuid() == 0:
        return ["apt-get"]
    if shutil.which("sudo") is None:
        raise TestbedError(f"packages are missing; as root, run: {wanted}")
    return ["sudo", "apt-get"]


def _stop_distro_services() -> None:
    """A service of the distribution does not run beside ours; without systemd none was started."""
    if not Path("/run/systemd/system").is_dir():
        return
    for service in _DISTRO_SERVICES:
        subprocess.run(["systemctl", "disable", "--now", service], check=False, capture_output=True)
