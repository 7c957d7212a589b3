"""What users write: templates, some of which can only crash, and ways from one life to the next."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.sim.engines import BREAKS_JOINER, BREAKS_LEADER, TIRES_JOINER, TIRES_LEADER

from elasticep.api.models import GroupSpec

IMAGE = {"image": "lmsysorg/sglang:v0.5.19", "scaleTimeoutSeconds": 120, "startTimeoutSeconds": 300}

TEMPLATES: dict[str, dict[str, Any]] = {
    "plain": {},
    "tuned": {"engine": {**IMAGE, "args": ["--mem-fraction-static", "0.85"]}},
    "thin joiners": {"joiner": {"ranks": 1}},
    "small leader": {"leader": {"ranks": 2}},
    "breaks leader": {"engine": {**IMAGE, "args": [BREAKS_LEADER]}},
    "breaks joiner": {"engine": {**IMAGE, "args": [BREAKS_JOINER]}},
    "tires leader": {"engine": {**IMAGE, "args": [TIRES_LEADER]}},
    "tires joiner": {"engine": {**IMAGE, "args": [TIRES_JOINER]}},
}

BAD_TEMPLATES = [name for name in TEMPLATES if name.startswith(("breaks", "tires"))]
GOOD_TEMPLATES = [name for name in TEMPLATES if name not in BAD_TEMPLATES]


@dataclass(frozen=True, kw_only=True)
class Ways:
    """How a group is to come from one incarnation to the next; times in seconds."""

    shrink: str = "Surge"
    fallback: str = "Surge"
    recovery: str = "Restart"
    rollout: str = "Surge"
    drain: int = 60
    stabilization: int = 60


USUAL = Ways()


@cache
def group_spec(
    template: str, replicas: int, *, ways: Ways = USUAL, paused: bool = False
) -> GroupSpec:
    """A spec that admission lets pass: more replicas than fit are cut."""
    raw: dict[str, Any] = {
        "model": {"path": "deepseek-ai/DeepSeek-V2-Lite"},
        "engine": IMAGE,
        "leader": {"ranks": 4},
        "joiner": {"ranks": 2},
        "maxEPSize": 8,
        "scaleDown": {
            "strategy": ways.shrink,
            "fallback": ways.fallback,
            "drainSeconds": ways.drain,
            "stabilizationSeconds": ways.stabilization,
        },
        "recovery": {"strategy": ways.recovery},
        "rollout": {"strategy": ways.rollout, "progressDeadlineSeconds": 300},
        **TEMPLATES[template],
    }
    most = 1 + (raw["maxEPSize"] - raw["leader"]["ranks"]) // raw["joiner"]["ranks"]
    return GroupSpec.model_validate({**raw, "replicas": min(replicas, most), "paused": paused})
