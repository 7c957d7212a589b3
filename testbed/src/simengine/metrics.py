"""The gauges an operator reads, in Prometheus' text format, one series per data-parallel rank."""

from __future__ import annotations

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
