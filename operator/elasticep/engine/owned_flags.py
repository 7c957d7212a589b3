"""Which flags a user may not pass, because the operator sets them or a group breaks with them.

SGLang's parser takes any unambiguous beginning of a flag, so `--tp=8` means `--tp-size 8`. A
family therefore lists, beside the full spellings, the shortest beginnings that some release
takes for one of its flags and that no allowed flag of any release shares; a flag that is itself
the beginning of an allowed one is refused as a whole word only. `tests/contract` derives both
from the real parsers and compares.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class FlagFamily:
    """Flags that are refused for one reason."""

    spellings: tuple[str, ...]
    """Every full spelling, in any release."""
    beginnings: tuple[str, ...] = ()
    """Whatever begins like this is refused."""
    words: tuple[str, ...] = ()
    """Refused as a whole word, alone or before an equals sign."""
    why: str
    """Why it is refused and what to do instead; follows the flag in a sentence."""


FLAG_FAMILIES = (
    FlagFamily(
        spellings=("--model-path", "--model"),
        beginnings=("--model-p",),
        words=("--model",),
        why="is set from model.path",
    ),
    FlagFamily(
        spellings=("--trust-remote-code",),
        # Releases before 0.5.21 have no other flag that begins with --trust-r.
        beginnings=("--trust-rem",),
        words=("--trust-r", "--trust-re"),
        why="is set from model.trustRemoteCode",
    ),
    FlagFamily(
        spellings=(
            *("--tp-size", "--tensor-parallel-size"),
            *("--dp-size", "--data-parallel-size"),
            *("--ep-size", "--ep", "--expert-parallel-size"),
            *("--attn-dp-size", "--attention-data-parallel-size"),
        ),
        beginnings=(
            *("--tp", "--te", "--dp", "--da", "--ep-s", "--expert-p"),
            *("--attn-d", "--attention-d"),
        ),
        words=("--ep",),
        why="is set from leader.ranks and joiner.ranks",
    ),
    FlagFamily(
        spellings=(
            "--enable-dp-attention",
            "--enable-dp-attention-local-control-broadcast",
            "--enable-dp-lm-head",
            "--moe-dense-tp-size",
            "--moe-a2a-backend",
            "--load-balance-method",
        ),
        beginnings=("--enable-dp", "--moe-de", "--moe-a", "--load-b"),
        why="is set by the operator to the only value with which a group can grow",
    ),
    FlagFamily(
        spellings=(
            *("--pp-size", "--pipeline-parallel-size"),
            *("--attn-cp-size", "--attention-context-parallel-size"),
            *("--dcp-size", "--decode-context-parallel-size"),
            *("--moe-dp-size", "--moe-data-parallel-size"),
            "--dwdp-size",
        ),
        beginnings=(
            *("--pp-s", "--pip", "--attn", "--attention-c", "--dcp-s", "--decode-c"),
            *("--moe-d", "--dw"),
        ),
        # Releases from 0.5.20 on have no other flag that begins with --pi.
        words=("--pi",),
        why="must stay at 1: a group that can grow is parallel over experts only",
    ),
    FlagFamily(
        spellings=(
            "--elastic-ep-backend",
            "--elastic-ep-initial-size",
            "--elastic-ep-join-mode",
            "--elastic-ep-join-rank-offset",
            "--elastic-ep-rejoin",
            "--elastic-ep-scale-timeout",
            "--max-ep-size",
        ),
        beginnings=("--el", "--max-e"),
        why="is set from leader, joiner, maxEPSize and engine.scaleTimeoutSeconds",
    ),
    FlagFamily(
        spellings=("--eplb-algorithm",),
        beginnings=("--eplb-a",),
        why="must stay at auto, which chooses an algorithm that follows the group's size",
    ),
    FlagFamily(
        spellings=(
            "--cuda-graph-backend-decode",
            "--cuda-graph-backend-prefill",
            "--cuda-graph-config",
            "--disable-cuda-graph",
            "--disable-decode-cuda-graph",
            "--disable-prefill-cuda-graph",
            "--disable-piecewise-cuda-graph",
            "--enable-breakable-cuda-graph",
            "--enforce-piecewise-cuda-graph",
        ),
        beginnings=(
            *("--cuda-graph-ba", "--cuda-graph-c", "--disable-d", "--disable-pre"),
            *("--disable-pi", "--enable-bre", "--enforce-p"),
        ),
        words=("--disable-cuda-graph",),
        why="is set by the operator: a group that can grow must launch without CUDA graphs",
    ),
    FlagFamily(
        spellings=("--nnodes", "--node-rank", "--dist-init-addr", "--nccl-init-addr"),
        beginnings=("--nn", "--nod", "--dist-i", "--nccl-i"),
        why="is set by the operator from the pod's role and its leader's address",
    ),
    FlagFamily(
        spellings=("--host", "--port", "--enable-metrics"),
        beginnings=("--ho", "--po"),
        words=("--enable-metrics",),
        why="is set by the operator, the port from engine.port",
    ),
    FlagFamily(
        spellings=("--admin-api-key",),
        beginnings=("--ad",),
        why="is set from engine.adminKeySecretRef",
    ),
    FlagFamily(
        spellings=("--api-key",),
        beginnings=("--ap",),
        why=(
            "would lock out the operator, which proves that the group serves by asking it; "
            "put authentication in front of the Service"
        ),
    ),
    FlagFamily(
        spellings=(
            *("--ssl-keyfile", "--ssl-certfile", "--ssl-ca-certs", "--ssl-keyfile-password"),
            *("--enable-ssl-refresh", "--grpc-mode", "--smg-grpc-mode"),
        ),
        beginnings=("--ss", "--enable-ss", "--grpc-m", "--smg-g"),
        why="takes away the plain HTTP over which the group is resized and probed",
    ),
    FlagFamily(
        spellings=("--grpc-port",),
        beginnings=("--grpc-p",),
        why="would open a way around the admin key; remove it",
    ),
    FlagFamily(
        spellings=("--disaggregation-mode", "--encoder-only", "--is-embedding"),
        beginnings=("--disaggregation-m", "--encoder-o", "--is"),
        why="makes an engine that completes no text by itself, and only completions move a resize",
    ),
    FlagFamily(
        spellings=(
            *("--tokenizer-worker-num", "--use-ray", "--enable-elastic-expert-backup"),
            *("--enable-waterfill", "--enable-lmcache"),
        ),
        beginnings=("--tokenizer-w", "--us", "--enable-el", "--enable-waterf", "--enable-lm"),
        # Releases before --enable-watermark have no other flag that begins with --enable-wa.
        words=("--enable-wa", "--enable-wat", "--enable-wate", "--enable-water"),
        why="is not supported by SGLang in a group that can grow; remove it",
    ),
    FlagFamily(
        spellings=("--mooncake-ib-device",),
        beginnings=("--moo",),
        why="is set from rdma.devices",
    ),
    FlagFamily(
        spellings=("--base-gpu-id", "--gpu-id-step"),
        beginnings=("--bas", "--gp"),
        why="is pointless: a pod has exactly the GPUs of its ranks; remove it",
    ),
    FlagFamily(
        spellings=("--config",),
        beginnings=("--conf",),
        why="could bring in any other flag; write the file's flags into engine.args",
    ),
    FlagFamily(
        spellings=("--help", "-h"),
        beginnings=("--he", "-h"),
        why="makes the engine print its flags and end; remove it",
    ),
    FlagFamily(
        spellings=("--",),
        words=("--",),
        why="would make values of the flags after it; remove it",
    ),
)

_OTHER_EXCHANGE = "chooses an exchange between experts with which a group cannot grow; remove it"

REFUSED_VALUES = {
    "experimental_sgl_marlin": _OTHER_EXCHANGE,
    "megamoe": _OTHER_EXCHANGE,
}
"""Values of allowed flags, here of --moe-runner-backend, that contradict what the operator sets."""
