"""The command lines of leader and joiners: deterministic, no shell, never short of a flag.

Their sizes and roles follow the engine contract; what every line must say is the same for both
roles, because leader and joiners have to agree on it.
"""

from dataclasses import dataclass

from elasticep.engine.contract import AttentionParallelism, Contract


@dataclass(frozen=True, kw_only=True)
class Launch:
    """What the command lines of one group depend on."""

    model_path: str
    trust_remote_code: bool
    leader_ranks: int
    """Ranks of the launch cohort, at least `contract.MINIMUM_LEADER_RANKS`."""
    joiner_ranks: int
    max_ep_size: int
    """The EP size, in ranks, reserved at boot; more than `leader_ranks`."""
    http_port: int
    dist_init_port: int
    scale_timeout_seconds: int
    ib_devices: tuple[str, ...]
    """InfiniBand devices to use; the engine looks for them itself when empty."""
    extra_args: tuple[str, ...]
    """The user's flags, none of which belongs to a family of `owned_flags`."""
    admin_key: str
    """The key itself, or a `$(NAME)` reference that the kubelet expands."""


def leader_arguments(contract: Contract, launch: Launch, *, own_address: str) -> tuple[str, ...]:
    """The arguments of the leader, which others reach at `own_address`.

    The address must be the pod's own, not a Service's: the engine binds to it.
    """
    return (
        *_shared_arguments(contract, launch, ranks=launch.leader_ranks),
        *("--dist-init-addr", _host_and_port(own_address, launch.dist_init_port)),
        *("--nnodes", "1"),
        *("--node-rank", "0"),
        *("--elastic-ep-initial-size", str(launch.leader_ranks)),
    )


def joiner_arguments(
    contract: Contract, launch: Launch, *, offset: int, leader_address: str
) -> tuple[str, ...]:
    """The arguments of the joiner whose first rank is `offset`, the EP size it finds."""
    return (
        *_shared_arguments(contract, launch, ranks=launch.joiner_ranks),
        *("--dist-init-addr", _host_and_port(leader_address, launch.dist_init_port)),
        # Not this joiner's number: SGLang takes every joiner for node 1 of 2.
        *("--nnodes", "2"),
        *("--node-rank", "1"),
        *("--elastic-ep-join-mode", "scale"),
        *("--elastic-ep-join-rank-offset", str(offset)),
        *("--elastic-ep-initial-size", str(launch.leader_ranks)),
    )


def _shared_arguments(contract: Contract, launch: Launch, *, ranks: int) -> tuple[str, ...]:
    """What both roles say; the user's flags first, because the last spelling of a flag wins."""
    return (
        *launch.extra_args,
        *_model_arguments(launch),
        *_server_arguments(launch),
        *_parallelism_arguments(contract, ranks),
        *_elasticity_arguments(contract, launch),
    )


def _model_arguments(launch: Launch) -> tuple[str, ...]:
    trust = ("--trust-remote-code",) if launch.trust_remote_code else ()
    return (f"--model-path={launch.model_path}", *trust)


def _server_arguments(launch: Launch) -> tuple[str, ...]:
    return (
        *("--host", "0.0.0.0"),  # noqa: S104 - the engine otherwise listens on loopback only
        *("--port", str(launch.http_port)),
        "--enable-metrics",
        # One word, not two: a key may begin with a dash, and argparse takes that for a flag.
        f"--admin-api-key={launch.admin_key}",
    )


def _parallelism_arguments(contract: Contract, ranks: int) -> tuple[str, ...]:
    size = str(ranks)
    match contract.attention_parallelism:
        case AttentionParallelism.DP_SIZE:
            attention: tuple[str, ...] = ("--enable-dp-attention", "--dp-size", size)
        case AttentionParallelism.ATTN_DP_SIZE:
            attention = ("--attn-dp-size", size)
    return (
        *("--tp-size", size),
        *("--ep-size", size),
        *attention,
        "--enable-dp-lm-head",
        # SGLang asks for it of joiners of one rank only. Without it dense layers are split over
        # the ranks of one launch, and launches of different sizes would split them differently.
        *("--moe-dense-tp-size", "1"),
        *("--load-balance-method", "round_robin"),
    )


def _elasticity_arguments(contract: Contract, launch: Launch) -> tuple[str, ...]:
    devices = ("--mooncake-ib-device", ",".join(launch.ib_devices)) if launch.ib_devices else ()
    return (
        *("--elastic-ep-backend", "mooncake"),
        *("--moe-a2a-backend", "nixl"),
        *("--max-ep-size", str(launch.max_ep_size)),
        *("--elastic-ep-scale-timeout", str(launch.scale_timeout_seconds)),
        *devices,
        # Not --disable-cuda-graph: that one is deprecated and ranks below the per-phase flags.
        *("--cuda-graph-backend-decode", contract.decode_graph_backends[0]),
        *("--cuda-graph-backend-prefill", "disabled"),
    )


def _host_and_port(host: str, port: int) -> str:
    """`host:port` with an IPv6 address in brackets, as SGLang's parser wants it."""
    return f"[{host}]:{port}" if ":" in host and not host.startswith("[") else f"{host}:{port}"
