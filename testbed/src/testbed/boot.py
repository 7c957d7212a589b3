"""Brings a cluster up: everything that need not wait for something else at the same time."""

import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from importlib import resources
from pathlib import Path

from testbed import daemons
from testbed.addresses import API_PORT, HOST, SERVICE_GATEWAY, node_addresses
from testbed.api import Api, is_true
from testbed.catalogue import build_project_images, build_system_images
from testbed.commands import run
from testbed.controlplane import ControlPlane, serving_names
from testbed.credentials import make_credentials
from testbed.errors import TestbedError, last_lines
from testbed.images import BuiltImage, ImageStore
from testbed.network import create_network, in_namespace
from testbed.node_files import write_node_files
from testbed.nodes import GPUS, Node, proxy_command
from testbed.places import Places
from testbed.programs import Programs, build_programs
from testbed.progress import Report
from testbed.record import Record
from testbed.resolver import start_resolver
from testbed.seed import make_seed, plant

_ETCD_PORT = 23790
_PEER_PORT = 23800
_READY_SECONDS = 120.0
_POLL_SECONDS = 0.1


@dataclass(frozen=True, kw_only=True)
class Materials:
    """All that a cluster is made from, ready in the cache."""

    programs: Programs
    images: Sequence[BuiltImage]
    seed: Path


def prepare(*, places: Places, report: Report, engine_versions: Sequence[str]) -> Materials:
    """Programs and images are built; without versions, only what any cluster needs."""
    programs = build_programs(places=places, report=report)
    store = ImageStore(places=places, report=report)
    images = build_system_images(store, programs=programs)
    if engine_versions:
        images += build_project_images(store, engine_versions=engine_versions)
    seed = make_seed(images, places=places, report=report)
    return Materials(programs=programs, images=images, seed=seed)


def boot(
    *,
    places: Places,
    report: Report,
    materials: Materials,
    node_count: int,
    engine_versions: Sequence[str],
) -> None:
    """A cluster with this many ready nodes is up.

    Raises TestbedError with the end of the log of what did not come up.
    """
    record = Record.of_this_machine(nodes=node_count, engine_versions=engine_versions)
    record = record.with_images(materials.images)
    record.write(places.record)
    addresses = node_addresses(node_count)
    nodes = [Node(address=address, places=places) for address in addresses]
    plane = _control_plane(places=places, materials=materials, nodes=nodes)
    with report.step("making the network"):
        create_network(addresses)
    with ThreadPoolExecutor() as pool:
        with report.step("starting the control plane and the nodes' containerd"):
            boots = [
                pool.submit(_boot_node, node, plane=plane, materials=materials) for node in nodes
            ]
            plane.start()
            plane.start_controllers()
            shutil.copy2(plane.kubeconfig, places.kubeconfig)
            for each in boots:
                each.result()
        with report.step(f"waiting for {node_count} nodes to be ready"):
            system = pool.submit(_start_system, places=places, plane=plane, nodes=nodes)
            for node in nodes:
                node.start_kubelet()
            api = Api.from_kubeconfig(places.kubeconfig)
            await_nodes(api, nodes=nodes)
            system.result()
            _await(
                lambda: _dns_serves(api),
                what="name service",
                log=places.logs / "kube-scheduler.log",
            )
    if engine_versions:
        start_resolver(places=places, report=report, versions=engine_versions)
    replace(record, complete=True).write(places.record)


def await_nodes(api: Api, *, nodes: Sequence[Node]) -> None:
    """These nodes are ready and offer their devices.

    Raises TestbedError with the end of a kubelet's log.
    """
    for node in nodes:
        log = node.places.logs / f"kubelet@{node.name}.log"
        _await(partial(_node_serves, api, node.name), what=node.name, log=log)


def _await(ready: Callable[[], bool], *, what: str, log: Path) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while not ready():
        if time.monotonic() > deadline:
            raise TestbedError(
                f"{what} is not ready after {_READY_SECONDS:.0f} s\n{last_lines(log)}"
            )
        time.sleep(_POLL_SECONDS)


def _node_serves(api: Api, name: str) -> bool:
    for node in api.nodes():
        if node["metadata"]["name"] == name:
            offered = node["status"].get("allocatable", {})
            return is_true(node, "Ready") and all(
                offered.get(resource) == str(count) for resource, count in GPUS.items()
            )
    return False


def _dns_serves(api: Api) -> bool:
    deployments = api.items("/apis/apps/v1/namespaces/kube-system/deployments")
    return any(is_true(each, "Available") for each in deployments)


def _control_plane(*, places: Places, materials: Materials, nodes: Sequence[Node]) -> ControlPlane:
    credentials = make_credentials(
        places.state / "credentials",
        address=HOST,
        port=API_PORT,
        names=serving_names(),
        nodes=[node.name for node in nodes],
    )
    return ControlPlane(
        directory=places.state,
        kube=materials.programs.kube,
        credentials=credentials,
        address=HOST,
        api_port=API_PORT,
        etcd_port=_ETCD_PORT,
        peer_port=_PEER_PORT,
    )


def _boot_node(node: Node, *, plane: ControlPlane, materials: Materials) -> None:
    plant(materials.seed, target=node.disk / "lib" / "containerd")
    write_node_files(
        node.disk, address=node.address, programs=materials.programs, credentials=plane.credentials
    )
    node.power_on()
    node.start_containerd()


def _start_system(*, places: Places, plane: ControlPlane, nodes: Sequence[Node]) -> None:
    """Names and ClusterIPs work, from this machine too."""
    kubeconfig = plane.credentials.kubeconfig("system:kube-proxy")
    proxy = proxy_command(plane.kube, kubeconfig=kubeconfig, node=nodes[0].name)
    argv: list[str | Path] = [*in_namespace(SERVICE_GATEWAY.namespace), *proxy]
    daemons.start("kube-proxy@gateway", argv, state=places.state)
    manifests = resources.files("testbed") / "manifests"
    with resources.as_file(manifests) as directory:
        kubectl: list[str | Path] = [plane.kube, "kubectl", f"--kubeconfig={places.kubeconfig}"]
        apply = ["apply", "--server-side", "--field-manager=testbed", f"--filename={directory}"]
        run([*kubectl, *apply])
