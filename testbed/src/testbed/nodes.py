"""A node: network, mounts and processes of its own, as a machine has, without being one.

Its process 1 is `pause` in namespaces of its own. Killing that one process is the node's loss of
power: the kernel kills every other process in it, containers included, and drops its mounts.
The daemons see the usual paths (/var/lib/kubelet, /run/containerd, /var/log/pods), which are the
node's own. Its disk, `nodes/NAME` in the state directory, stays over a loss of power; /run does
not.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from testbed import daemons
from testbed.addresses import POD_NETWORK, NodeAddress
from testbed.cgroups import create_node_cgroup, entering, node_mounts, remove_cgroups, settle
from testbed.commands import run
from testbed.daemons import Daemon
from testbed.errors import TestbedError
from testbed.images import BuiltImage
from testbed.network import in_namespace
from testbed.node_files import HOME
from testbed.places import Places

GPUS = {"nvidia.com/gpu": 8, "rdma/hca_shared_devices_a": 8}
LABELS = {
    # What the operators of NVIDIA and of node feature discovery put on such a node.
    "nvidia.com/gpu.present": "true",
    "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
    "nvidia.com/gpu.count": "8",
    "feature.node.kubernetes.io/rdma.available": "true",
    "feature.node.kubernetes.io/rdma.capable": "true",
}
_START_SECONDS = 30.0
_POLL_SECONDS = 0.02


@dataclass(frozen=True, kw_only=True)
class Node:
    """One node of the testbed in `places`."""

    address: NodeAddress
    places: Places

    @property
    def name(self) -> str:
        """The name of its Node object."""
        return self.address.name

    @property
    def disk(self) -> Path:
        """What it keeps over a loss of power."""
        return self.places.node(self.name)

    def power_on(self) -> None:
        """Process 1 runs in namespaces of its own, and the mounts are made.

        Raises TestbedError when it is on already, or the kernel refuses.
        """
        if self.init() is not None:
            raise TestbedError(f"{self.name} is running; stop it first")
        create_node_cgroup(self.name)
        separate = ("--mount", "--pid", "--uts", "--cgroup", "--fork", "--kill-child")
        namespace = in_namespace(self.address.attachment.namespace)
        pause = self.disk / "lib" / "testbed" / "pause"
        argv: list[str | Path] = [
            *entering(self.name, as_root=True),
            *namespace,
            "unshare",
            *separate,
        ]
        daemon = self._start("node", [*argv, "--mount-proc", pause])
        daemon.wait_until(lambda: self.init() is not None, seconds=_START_SECONDS, what="process 1")
        for pid in (self.init(), daemon.pid):
            if pid is not None:
                settle(pid, node=self.name)
        # The kubelet's volumes have to reach containers that are already running.
        self.run(["mount", "--make-rshared", "/"])
        for group, seen in node_mounts(self.name):
            self.run(["mount", "--bind", group, seen])
        self.run(["mount", "--bind", self.disk / "lib", "/var/lib"])
        self.run(["mount", "--bind", self.disk / "log", "/var/log"])
        self.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"])
        self.run(["hostname", self.name])

    def start_containerd(self) -> None:
        """Containerd answers."""
        daemon = self._start(
            "containerd", ["containerd", "--config", HOME / "containerd.toml"], inside=True
        )
        daemon.wait_until(self._containerd_answers, seconds=_START_SECONDS, what="answer")

    def start_kubelet(self) -> None:
        """The kubelet, the device plugin and kube-proxy run; they wait for the API server."""
        labels = ",".join(f"{name}={value}" for name, value in LABELS.items())
        kubelet: list[str | Path] = [
            HOME / "kube",
            "kubelet",
            f"--config={HOME / 'kubelet.yaml'}",
            f"--kubeconfig={HOME / f'system-node-{self.name}.kubeconfig'}",
            f"--hostname-override={self.name}",
            f"--node-ip={self.address.attachment.address}",
            f"--node-labels={labels}",
        ]
        self._start("kubelet", kubelet, inside=True)
        devices = [f"--resource={name}={count}" for name, count in GPUS.items()]
        self._start("device-plugin", [HOME / "kube", "device-plugin", *devices], inside=True)
        proxy = proxy_command(
            HOME / "kube", kubeconfig=HOME / "system-kube-proxy.kubeconfig", node=self.name
        )
        self._start("kube-proxy", proxy, inside=True)

    def power_off(self) -> None:
        """Nothing of the node runs any more: no process ended in order, no mount was undone."""
        daemons.end(lambda process: process.name.endswith(f"@{self.name}"), state=self.places.state)
        remove_cgroups(self.name)

    def run(self, argv: Sequence[str | Path], *, stdin: Path | None = None) -> str:
        """What a program printed that ran on this node.

        Raises TestbedError when the node is off or the program fails.
        """
        return run([*self.enter(), *argv], stdin=stdin)

    def import_image(self, image: BuiltImage) -> None:
        """Containerd has the image; through stdin, as the archive's path may not exist inside."""
        self.run(["ctr", "--namespace", "k8s.io", "images", "import", "-"], stdin=image.archive)

    def enter(self) -> list[str]:
        """The words that run a program on this node, in its network, mounts and processes."""
        init = self.init()
        if init is None:
            raise TestbedError(f"{self.name} is off; start it first")
        spaces = ("--mount", "--net", "--pid", "--uts", "--cgroup")
        return [*entering(self.name), "nsenter", f"--target={init}", *spaces, "--wd=/"]

    def init(self) -> int | None:
        """The pid of the node's process 1, seen from this machine; None when the node is off."""
        ours = [
            process
            for process in daemons.find(state=self.places.state)
            if process.name == f"node@{self.name}"
        ]
        outside = {process.pid for process in ours}
        inside = [process.pid for process in ours if process.parent in outside]
        return inside[0] if inside and ours[0].command.startswith("unshare") else None

    def _start(self, program: str, argv: Sequence[str | Path], *, inside: bool = False) -> Daemon:
        words: Sequence[str | Path] = [*self.enter(), *argv] if inside else argv
        return daemons.start(f"{program}@{self.name}", words, state=self.places.state)

    def _containerd_answers(self) -> bool:
        try:
            self.run(["ctr", "version"])
        except TestbedError:
            time.sleep(_POLL_SECONDS)
            return False
        return True


def proxy_command(kube: Path, *, kubeconfig: Path, node: str) -> list[str | Path]:
    """The words that run kube-proxy as the proxy of a node, which it is silent without."""
    return [
        kube,
        "kube-proxy",
        "--proxy-mode=nftables",
        f"--kubeconfig={kubeconfig}",
        f"--hostname-override={node}",
        "--detect-local-mode=ClusterCIDR",
        f"--cluster-cidr={POD_NETWORK}",
        "--metrics-bind-address=127.0.0.1:10249",
        "--healthz-bind-address=127.0.0.1:10256",
        # These settings belong to the machine, not to a network namespace.
        "--conntrack-max-per-core=0",
        "--conntrack-tcp-timeout-established=0",
        "--conntrack-tcp-timeout-close-wait=0",
    ]
