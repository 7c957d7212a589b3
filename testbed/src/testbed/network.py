"""The cluster's network on this machine: a bridge, and a namespace on it for each node.

This machine forwards nothing and its packet filter is not touched.
Nodes reach each other over the bridge, each knowing which node has which pods.
ClusterIPs are reached through a namespace that belongs to no node and runs only kube-proxy, so that
clients on this machine lose nothing when a node does.
"""

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path

from testbed.addresses import (
    BRIDGE,
    HOST,
    NETWORK,
    SERVICE_GATEWAY,
    SERVICE_NETWORK,
    Attachment,
    NodeAddress,
)
from testbed.commands import run
from testbed.errors import TestbedError

_NAMESPACES = Path("/run/netns")


def create_network(nodes: Sequence[NodeAddress]) -> None:
    """The bridge, the namespaces and the routes are there.

    Raises TestbedError when another network of this machine has the same addresses.
    """
    _refuse_overlap()
    _ip(
        f"link add {BRIDGE} type bridge",
        f"address add {HOST}/{NETWORK.prefixlen} dev {BRIDGE}",
        f"link set {BRIDGE} up",
    )
    attachments = [node.attachment for node in nodes]
    for attachment in [*attachments, SERVICE_GATEWAY]:
        _attach(attachment)
        _route_to_pods(attachment, [node for node in nodes if node.attachment != attachment])
    _ip(
        *(f"route add {node.pods} via {node.attachment.address}" for node in nodes),
        f"route add {SERVICE_NETWORK} via {SERVICE_GATEWAY.address}",
    )


def remove_network() -> bool:
    """Nothing of it is there any more; the answer is whether anything was.

    Routes and the other ends of the links go with the bridge and the namespaces.
    """
    found = False
    for namespace in our_namespaces():
        run(["ip", "netns", "delete", namespace])
        found = True
    for link in our_links():
        # The end in a namespace takes this end with it, at a time of the kernel's choosing.
        with contextlib.suppress(TestbedError):
            run(["ip", "link", "delete", link])
        found = True
    left = our_links()
    if left:
        raise TestbedError(f"these links do not go away: {', '.join(left)}")
    return found


def our_namespaces() -> list[str]:
    """The network namespaces of the testbed that exist."""
    if not _NAMESPACES.is_dir():
        return []
    return sorted(path.name for path in _NAMESPACES.iterdir() if path.name.startswith("eep-"))


def our_links() -> list[str]:
    """The links of the testbed in this machine's own namespace."""
    links = json.loads(run(["ip", "-json", "link", "show"]))
    names = [str(link["ifname"]) for link in links if "ifname" in link]
    return [name for name in names if name == BRIDGE or name.startswith("eep-veth")]


def in_namespace(namespace: str) -> list[str]:
    """The words that run a program in a network namespace.

    Not `ip netns exec`: that mounts /sys anew, without the control groups.
    """
    return ["nsenter", f"--net={_NAMESPACES / namespace}"]


def _attach(attachment: Attachment) -> None:
    """A namespace with one link, eth0, to the bridge."""
    space = attachment.namespace
    _ip(
        f"netns add {space}",
        f"link add {attachment.host_link} type veth peer name eth0 netns {space}",
        f"link set {attachment.host_link} master {BRIDGE} up",
        f"-netns {space} link set lo up",
        f"-netns {space} link set eth0 up",
        f"-netns {space} address add {attachment.address}/{NETWORK.prefixlen} dev eth0",
        f"-netns {space} route add default via {HOST}",
    )
    run([*in_namespace(space), "sysctl", "-qw", "net.ipv4.ip_forward=1"])


def _route_to_pods(attachment: Attachment, others: Sequence[NodeAddress]) -> None:
    _ip(
        *(
            f"-netns {attachment.namespace} route add {node.pods} via {node.attachment.address}"
            for node in others
        )
    )


def _refuse_overlap() -> None:
    for route in json.loads(run(["ip", "-json", "route", "show", "root", str(NETWORK)])):
        raise TestbedError(
            f"the network {route['dst']} on {route.get('dev')} has addresses of the testbed's "
            f"{NETWORK}; take that link down first"
        )


def _ip(*commands: str) -> None:
    for command in commands:
        run(["ip", *command.split()])
