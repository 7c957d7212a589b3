"""Says what is up, to a person."""

import os

from rich.console import Console
from rich.table import Table

from testbed import daemons
from testbed.api import Api, is_true
from testbed.cluster import Cluster
from testbed.errors import TestbedError
from testbed.nodes import GPUS
from testbed.places import Places


def print_status(places: Places) -> int:
    """Print it; the answer is 0 when the whole cluster is up and 1 otherwise."""
    console = Console(width=None if os.isatty(1) else 120, highlight=False)
    try:
        cluster = Cluster.running(places)
    except TestbedError as none:
        console.print(str(none))
        return 1
    console.print(_nodes(cluster))
    console.print(_processes(cluster))
    console.print(f"kubeconfig: {cluster.kubeconfig}")
    console.print(f"audit log:  {cluster.audit_log}")
    console.print(f"logs:       {places.logs}")
    missing = cluster.missing()
    if missing:
        console.print(f"not running: {', '.join(missing)}")
        return 1
    return 0


def _nodes(cluster: Cluster) -> Table:
    table = Table(title="nodes")
    for heading in ("node", "ready", "address", "kubelet", "runtime", *GPUS):
        table.add_column(heading)
    objects = {
        node["metadata"]["name"]: node for node in Api.from_kubeconfig(cluster.kubeconfig).nodes()
    }
    for node in cluster.nodes:
        found = objects.get(node.name, {})
        status = found.get("status", {})
        info = status.get("nodeInfo", {})
        table.add_row(
            node.name,
            "yes" if is_true(found, "Ready") else "no",
            str(node.address.attachment.address),
            info.get("kubeletVersion", "?"),
            info.get("containerRuntimeVersion", "?"),
            *(status.get("allocatable", {}).get(resource, "?") for resource in GPUS),
        )
    return table


def _processes(cluster: Cluster) -> Table:
    table = Table(title="processes")
    table.add_column("process")
    table.add_column("pid", justify="right")
    table.add_column("memory", justify="right")
    shown = daemons.find(state=cluster.places.state)
    for process in sorted(shown, key=lambda each: (each.name.partition("@")[2], each.name)):
        if not process.waits_for_another and "containerd-shim" not in process.command:
            megabytes = process.resident_bytes / 1024**2
            table.add_row(process.name, str(process.pid), f"{megabytes:.0f} MB")
    return table
