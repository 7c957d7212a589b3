"""The addresses and names of the cluster, in one place."""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

BRIDGE = "eep0"
NETWORK = IPv4Network("10.77.0.0/24")
HOST = IPv4Address("10.77.0.1")
GATEWAY = IPv4Address("10.77.0.2")
POD_NETWORK = IPv4Network("10.78.0.0/16")
SERVICE_NETWORK = IPv4Network("10.96.0.0/16")
KUBERNETES_SERVICE = IPv4Address("10.96.0.1")
DNS_SERVICE = IPv4Address("10.96.0.10")
DNS_DOMAIN = "cluster.local"
API_PORT = 6443
RESOLVER_PORT = 8399

MOST_NODES = 64


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """A network namespace on the bridge; names of links may have 15 characters at most."""

    namespace: str
    host_link: str
    address: IPv4Address


@dataclass(frozen=True, kw_only=True)
class NodeAddress:
    """The names and addresses of one node; `number` counts from 1."""

    number: int

    @property
    def name(self) -> str:
        """The name of its Node object."""
        return f"gpu-node-{self.number}"

    @property
    def pods(self) -> IPv4Network:
        """The addresses of its pods."""
        return IPv4Network(f"10.78.{self.number}.0/24")

    @property
    def attachment(self) -> Attachment:
        """Where it is on the bridge."""
        return Attachment(
            namespace=f"eep-node{self.number}",
            host_link=f"eep-veth{self.number}",
            address=IPv4Address(f"10.77.0.{10 + self.number}"),
        )


# Not a node: the way from this machine to ClusterIPs.
SERVICE_GATEWAY = Attachment(namespace="eep-gateway", host_link="eep-vethgw", address=GATEWAY)


def node_addresses(count: int) -> tuple[NodeAddress, ...]:
    """The addresses of nodes 1 to `count`."""
    return tuple(NodeAddress(number=number) for number in range(1, count + 1))
