"""The user's pod template, merged under what the operator sets.

Maps merge key by key; lists of named things (containers, volumes, env, ports, mounts) merge
by name, the user's first; other lists are joined. Where both say something, the operator's
word stands: admission has refused a template that contradicts it, so this decides only for
objects that were stored before that rule.
"""

from collections.abc import Mapping
from typing import Any

from elasticep.api.models import PodTemplate

_MERGE_KEYS = ("name", "mountPath", "containerPort", "key")
"""How the items of a list are told apart: the first of these that every item has."""

_SETTABLE = frozenset({"dnsPolicy", "readinessProbe", "terminationGracePeriodSeconds"})
"""Where the user's word stands instead: the operator's is only a default."""

_NEVER_COPIED = frozenset({"nodeName"})
"""A pod that names its node passes the scheduler by, and a kubelet without room then refuses one
after the other (https://github.com/kubernetes/kubernetes/issues/106419)."""


def merge_pod(*, user: PodTemplate, owned: Mapping[str, Any]) -> dict[str, Any]:
    """The pod of ``owned`` with the user's metadata and spec merged under it."""
    template = {
        "metadata": {
            "labels": dict(user.metadata.labels),
            "annotations": dict(user.metadata.annotations),
        },
        "spec": {k: v for k, v in user.spec.items() if k not in _NEVER_COPIED},
    }
    return _merge_maps(template, owned)


def _merge_maps(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(under)
    for key, value in over.items():
        if key not in under:
            merged[key] = value
        elif key not in _SETTABLE:
            merged[key] = _merge(under[key], value)
    return merged


def _merge(under: Any, over: Any) -> Any:
    match under, over:
        case Mapping(), Mapping():
            return _merge_maps(under, over)
        case list(), list():
            return _merge_lists(under, over)
        case _:
            return over


def _merge_lists(under: list[Any], over: list[Any]) -> list[Any]:
    key = _merge_key([*under, *over])
    if key is None:
        return [*under, *(item for item in over if item not in under)]
    merged = {item[key]: item for item in under}
    for item in over:
        mine = merged.get(item[key])
        merged[item[key]] = _merge(mine, item) if mine is not None else item
    return list(merged.values())


def _merge_key(items: list[Any]) -> str | None:
    for key in _MERGE_KEYS:
        if items and all(isinstance(item, Mapping) and key in item for item in items):
            return key
    return None
