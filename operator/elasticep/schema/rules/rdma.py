"""Rules about RDMA devices."""

from elasticep.schema.rules.rule import Rule, literal, no_placeholder

_EXTENDED_RESOURCE = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
_DEVICE = r"^[A-Za-z0-9][-A-Za-z0-9_.]*$"

RDMA = (
    no_placeholder(
        at="spec.rdma.resource",
        instead="the extended resource that `kubectl describe node` shows on the RDMA nodes,"
        " such as rdma/hca_shared_devices_a",
    ),
    Rule(
        at="spec.rdma.resource",
        holds=f"self.matches({literal(_EXTENDED_RESOURCE)})",
        message="an extended resource is written DOMAIN/NAME, such as rdma/hca_shared_devices_a",
    ),
    Rule(
        at="spec.rdma.resource",
        holds="!self.startsWith('nvidia.com/gpu') && !self.startsWith('kubernetes.io/')",
        message="this is not an RDMA resource; GPUs are asked for with leader.ranks and"
        " joiner.ranks",
    ),
    no_placeholder(
        at="spec.rdma.devices[]",
        instead="the name of a device in /sys/class/infiniband, such as mlx5_0, or leave devices"
        " out for the engine to find them",
    ),
    Rule(
        at="spec.rdma.devices[]",
        holds=f"self.matches({literal(_DEVICE)})",
        message="write one device name per item, as in /sys/class/infiniband, such as mlx5_0",
    ),
)
