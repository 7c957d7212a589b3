"""The load of each data-parallel rank: gauges in Prometheus' text format, and the JSON of loads."""

from __future__ import annotations

import time
from collections.abc import Mapping

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def render(
    *,
    model_name: str,
    loads: Mapping[int, tuple[int, int]],
    totals: Mapping[str, int] | None = None,
) -> str:
    """`loads` maps a rank to its running and queued requests; `totals` are counters."""
    lines: list[str] = []
    gauges = (
        ("sglang:num_running_reqs", "The number of running requests.", 0),
        ("sglang:num_queue_reqs", "The number of requests in the waiting queue.", 1),
    )
    for name, description, position in gauges:
        lines += [f"# HELP {name} {description}", f"# TYPE {name} gauge"]
        for rank, load in sorted(loads.items()):
            labels = (
                f'dp_rank="{rank}",engine_type="unified",model_name="{model_name}",'
                f'moe_ep_rank="{rank}",pp_rank="0",tp_rank="{rank}"'
            )
            lines.append(f"{name}{{{labels}}} {float(load[position])}")
    for name, total in (totals or {}).items():
        lines += [f"# TYPE {name} counter"]
        lines.append(f'{name}{{model_name="{model_name}"}} {float(total)}')
    return "\n".join([*lines, ""])


def load_snapshot(rank: int, load: tuple[int, int]) -> dict[str, object]:
    """One rank's entry of GET /v1/loads, by its running and queued requests.

    The fields are those of SGLang's `LoadSnapshot` (`srt/managers/load_snapshot.py`) that every
    version from 0.5.19 to 0.5.23 has; what is not simulated is 0.
    """
    running, waiting = load
    nothing = (
        "num_waiting_uncached_tokens",
        "num_used_tokens",
        "num_total_tokens",
        "num_active_tokens",
        "max_total_num_tokens",
        "max_running_requests",
        "token_usage",
        "gen_throughput",
        "cache_hit_rate",
        "utilization",
        "total_prefill_uncached_tokens",
        "total_prefill_busy_us",
    )
    return {
        "timestamp": time.time(),
        "dp_rank": rank,
        "num_running_reqs": running,
        "num_waiting_reqs": waiting,
        **dict.fromkeys(nothing, 0),
        "decode_moments": None,
        "queues": {
            "waiting": waiting,
            "grammar": 0,
            "paused": 0,
            "retracted": 0,
            "prealloc_ready": 0,
        },
    }
