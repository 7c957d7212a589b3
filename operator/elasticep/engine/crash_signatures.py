"""What an engine's last words mean, and whether trying again can help.

The fragments are short on purpose: they are looked up in a termination message or in the last
lines of a log, and wording changes between releases. `tests/contract` checks those that SGLang's
argument resolution prints against the real thing.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Signature:
    """One known way in which an engine ends."""

    reason: str
    """CamelCase, for conditions and events."""
    fragments: tuple[str, ...]
    deterministic: bool
    """True when the same spec fails the same way again, so that a retry only costs GPUs."""
    meaning: str
    advice: str


RECOVERY_UNSUPPORTED = Signature(
    reason="RecoveryUnsupported",
    fragments=("rank recovery is unsupported",),
    deterministic=False,
    meaning="A rank was lost after the group had grown, which this engine cannot mend.",
    advice="Nothing: the group is restarted as a whole.",
)
"""The engine says so in its state too, while it still answers."""

SIGNATURES = (
    Signature(
        reason="CudaGraphEnabled",
        fragments=(
            "graphs to be disabled",
            "requires prefill CUDA graph",
            "supports decode CUDA graph backend",
            "Elastic EP CUDA graph recapture",
        ),
        deterministic=True,
        meaning="A CUDA graph is on that this release cannot keep while a group grows.",
        advice="Remove every CUDA graph flag from engine.args, and check engine.version.",
    ),
    Signature(
        reason="JoinerNodeRank",
        fragments=("joining TP group at --node-rank 1",),
        deterministic=True,
        meaning="A joiner was launched without --node-rank 1.",
        advice="Check that engine.command passes its arguments on unchanged.",
    ),
    Signature(
        reason="WrongA2ABackend",
        fragments=("requires --moe-a2a-backend nixl",),
        deterministic=True,
        meaning="The all-to-all backend of the experts is not nixl.",
        advice="Remove flags from engine.args that choose how experts exchange tokens.",
    ),
    Signature(
        reason="WrongElasticBackend",
        fragments=(
            "requires --elastic-ep-backend mooncake",
            "requires --elastic-ep-backend to be set",
        ),
        deterministic=True,
        meaning="The elastic backend is not mooncake.",
        advice="Check that engine.command passes its arguments on unchanged.",
    ),
    Signature(
        reason="MaxEpSizeExceeded",
        fragments=("exceeds --max-ep-size",),
        deterministic=True,
        meaning="A joiner would take the group past the EP size reserved at boot.",
        advice="Raise maxEPSize, or lower replicas or joiner.ranks.",
    ),
    Signature(
        reason="MoeDenseTpSize",
        fragments=("requires --moe-dense-tp-size 1",),
        deterministic=True,
        meaning="Dense layers are not replicated on every rank.",
        advice="Remove flags from engine.args that change how dense layers are split.",
    ),
    Signature(
        reason="InvalidArguments",
        fragments=(
            # Short, so that what a longer fragment says of the same sentence wins.
            "Elastic EP requires",
            "scale-up requires",
            "scale-up currently requires",
            "scale-up does not support",
            "scale joiners require",
            "under elastic EP",
            "Invalid attention topology",
            "--elastic-ep-initial-size is only valid",
            "--elastic-ep-initial-size must equal",
            "--elastic-ep-initial-size cannot exceed",
            "--elastic-ep-join-rank-offset is only valid",
            "--elastic-ep-scale-timeout must be",
            "--max-ep-size must be",
            "error: unrecognized arguments",
            "error: argument",
            "error: ambiguous option",
            "error: the following arguments are required",
        ),
        deterministic=True,
        meaning="SGLang refused its command line.",
        advice="Correct engine.args; `elasticep render` shows the whole command line.",
    ),
    Signature(
        reason="RdmaDeviceMissing",
        fragments=(
            "InfiniBand sysfs path not found",
            "No IB devices found",
            "No RDMA devices found",
            "No available RNIC",
            "Found 0 HCAs",
        ),
        deterministic=False,
        meaning="The container sees no RDMA device.",
        advice="Check rdma.resource and rdma.count, and the RDMA device plugin on that node.",
    ),
    Signature(
        reason="RdmaDeviceName",
        fragments=("Invalid IB devices specified", "No valid IB devices specified"),
        deterministic=True,
        meaning="A device in rdma.devices is not there.",
        advice="Name devices as in /sys/class/infiniband of a pod, or leave rdma.devices empty.",
    ),
    Signature(
        reason="MooncakeMismatch",
        fragments=(
            "was not built against torch==",
            "torch ProcessGroup backend is not usable",
            "libcudart.so",
        ),
        deterministic=True,
        meaning="Mooncake in the image was built for another torch or CUDA.",
        advice="Use an image whose Mooncake, torch and CUDA versions belong together.",
    ),
    Signature(
        reason="GpuDirectUnavailable",
        fragments=(
            "Failed to register memory",
            "memory registration failed",
            "IBV_WC_LOC_PROT_ERR",
        ),
        deterministic=False,
        meaning="GPU memory could not be registered with the RDMA device.",
        advice="Check nvidia-peermem or dma-buf on the node, and the container's memlock limit.",
    ),
    Signature(
        reason="FabricMisconfigured",
        fragments=(
            "transport retry counter exceeded",
            "failed to select lane",
            "no active messages transport",
            "NIXL_ERR_BACKEND",
        ),
        deterministic=False,
        meaning="Ranks cannot reach each other over RDMA.",
        advice="Check that all nodes share one fabric and that rdma.devices belong to it.",
    ),
    Signature(
        reason="RankArithmetic",
        fragments=("rank out of valid range", "dp_size exceeds WORLD size"),
        deterministic=True,
        meaning="The engine miscounted its ranks, a known fault of this release.",
        advice="Use an image with a later SGLang or an earlier Mooncake.",
    ),
    Signature(
        reason="LeaderUnreachable",
        fragments=(
            "Failed to receive worker ports",
            "Timeout waiting for worker ports",
            "Cannot resolve host",
            "Missing port in address",
        ),
        deterministic=False,
        meaning="A joiner did not reach its leader.",
        advice="Check that network policies allow every port between pods of the group.",
    ),
    Signature(
        reason="GpuOutOfMemory",
        fragments=("CUDA out of memory", "OutOfMemoryError"),
        deterministic=False,
        meaning="A GPU ran out of memory.",
        advice="Lower --mem-fraction-static in engine.args, or give leader or joiner more ranks.",
    ),
    Signature(
        reason="JoinTimedOut",
        fragments=("Timed out waiting for ranks to join",),
        deterministic=False,
        meaning="The leader stopped waiting for a joiner.",
        advice="Raise engine.scaleTimeoutSeconds if the joiner was still loading the model.",
    ),
    Signature(
        reason="CohortMismatch",
        fragments=("does not match joining cohort target",),
        deterministic=False,
        meaning="The leader found the registration of an earlier joiner.",
        advice="Nothing: the next joiner replaces that registration.",
    ),
    RECOVERY_UNSUPPORTED,
)


def classify_text(text: str) -> Signature | None:
    """The signature whose fragment is in the text, None when none is.

    The longest fragment wins, because a longer one says more.
    """
    lowered = text.lower()
    found = [
        (len(fragment), signature)
        for signature in SIGNATURES
        for fragment in signature.fragments
        if fragment.lower() in lowered
    ]
    return max(found, key=lambda match: match[0])[1] if found else None
