"""ElasticEPGroups to be judged, good ones and bad ones."""

import copy
from typing import Any

from elasticep.api import names

GOOD: dict[str, Any] = {
    "apiVersion": names.API_VERSION,
    "kind": names.KIND,
    "metadata": {"name": "deepseek"},
    "spec": {
        "replicas": 3,
        "model": {"path": "deepseek-ai/DeepSeek-V2-Lite"},
        "engine": {"image": "lmsysorg/sglang:v0.5.19"},
        "leader": {"ranks": 4},
        "joiner": {"ranks": 2},
        "maxEPSize": 8,
        "rdma": {"resource": "rdma/hca_shared_devices_a", "devices": ["mlx5_0"]},
        "template": {"spec": {"containers": [{"name": "engine"}]}},
    },
}


class Absent:
    """Stands for a field that is taken out."""


def group(**fields: Any) -> dict[str, Any]:
    """A good group with some fields set otherwise.

    ``spec__leader__ranks=0`` sets ``spec.leader.ranks``; a number is the index of a list.
    """
    manifest = copy.deepcopy(GOOD)
    for path, value in fields.items():
        put(manifest, path.split("__"), value)
    return manifest


def put(manifest: dict[str, Any], path: list[str], value: Any) -> None:
    """``value`` stands at ``path``, whose missing parts are made; Absent takes it out."""
    node: Any = manifest
    for step in path[:-1]:
        node = node[int(step)] if step.isdecimal() else node.setdefault(step, {})
    if value is Absent:
        node.pop(path[-1], None)
    else:
        node[path[-1]] = value


ENGINE_CONTAINER = "spec__template__spec__containers__0__"
LABELS = "spec__template__metadata__labels"
SIDECAR = {"name": "sidecar", "image": "registry.example.com/proxy:1.0"}
