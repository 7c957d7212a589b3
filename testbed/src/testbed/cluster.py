"""The running cluster, for tests and the demo.

cluster = Cluster.running()
cluster.kubectl("get", "pods")
cluster.stop_node("gpu-node-2")
"""

import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from testbed import daemons
from testbed.addresses import node_addresses
from testbed.api import Api
from testbed.boot import await_nodes
from testbed.commands import run
from testbed.errors import TestbedError
from testbed.images import BuiltImage
from testbed.network import in_namespace
from testbed.nodes import Node
from testbed.places import Places
from testbed.progress import Report
from testbed.record import Record, read_record

# One process each on this machine, and these on each node.
_ALONE = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kube-proxy@gateway",
)
_ON_EACH_NODE = ("node", "containerd", "kubelet", "device-plugin", "kube-proxy")


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A cluster that is up, or was when this was made."""

    places: Places
    record: Record

    @classmethod
    def running(cls, places: Places | None = None) -> "Cluster":
        """The cluster that is up.

        Raises TestbedError when none is.
        """
        places = places or Places.from_environment()
        record = read_record(places.record)
        if record is None or not record.complete:
            raise TestbedError("no cluster is up; run: testbed up")
        return cls(places=places, record=record)

    @property
    def kubeconfig(self) -> Path:
        """The administrator's way in."""
        return self.places.kubeconfig

    @property
    def audit_log(self) -> Path:
        """One JSON line for each request that the API server answered."""
        return self.places.audit_log

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Its nodes, running or not."""
        addresses = node_addresses(self.record.nodes)
        return tuple(Node(address=address, places=self.places) for address in addresses)

    def node(self, name: str) -> Node:
        """The node of this name."""
        for node in self.nodes:
            if node.name == name:
                return node
        known = ", ".join(node.name for node in self.nodes)
        raise TestbedError(f"there is no node {name}; there are {known}")

    def kubectl(self, *words: str, stdin: str | None = None, timeout: float = 120.0) -> str:
        """What kubectl printed, as the administrator.

        Raises TestbedError with what it said when it fails.
        """
        argv: list[str | Path] = [
            self.places.programs / "kubectl",
            f"--kubeconfig={self.kubeconfig}",
            *words,
        ]
        done = subprocess.run(
            argv, check=False, capture_output=True, text=True, input=stdin, timeout=timeout
        )
        if done.returncode != 0:
            raise TestbedError(f"kubectl {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def stop_node(self, name: str) -> None:
        """The node has lost its power: nothing of it runs, and nobody was told."""
        self.node(name).power_off()

    def start_node(self, name: str) -> None:
        """The node is back, with the disk that it had, and ready."""
        node = self.node(name)
        node.power_on()
        node.start_containerd()
        node.start_kubelet()
        await_nodes(Api.from_kubeconfig(self.kubeconfig), nodes=[node])

    def cut_off(self, name: str) -> None:
        """The node and its pods run on, but nobody reaches them and they reach nobody."""
        run(["ip", "link", "set", self.node(name).address.attachment.host_link, "down"])

    def reconnect(self, name: str) -> None:
        """The node is reached again."""
        run(["ip", "link", "set", self.node(name).address.attachment.host_link, "up"])

    def in_node_network(self, name: str) -> list[str]:
        """The words that run a program with this node's view of the network."""
        return in_namespace(self.node(name).address.attachment.namespace)

    def missing(self) -> list[str]:
        """What should run and does not, by name."""
        running = {process.name for process in daemons.find(state=self.places.state)}
        expected = [*_ALONE]
        for node in self.nodes:
            expected += [f"{program}@{node.name}" for program in _ON_EACH_NODE]
        if self.record.engine_versions:
            expected.append("sglang-resolver")
        missing = [name for name in expected if name not in running]
        if not missing and not Api.from_kubeconfig(self.kubeconfig).is_ready():
            missing.append("an API server that is ready")
        return missing

    def load(self, images: Sequence[BuiltImage], *, report: Report) -> list[BuiltImage]:
        """These images are on every node; the answer is those that were not before.

        Raises TestbedError when a node is off.
        """
        fresh = [each for each in images if self.record.images.get(each.reference) != each.key]
        if fresh:
            names = ", ".join(each.reference for each in fresh)
            with report.step(f"loading {names}"), ThreadPoolExecutor() as pool:
                list(pool.map(lambda node: [node.import_image(each) for each in fresh], self.nodes))
            self.record.with_images(fresh).write(self.places.record)
        return fresh
