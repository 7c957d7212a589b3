"""Which nodes a pod is drawn to, and which it keeps off, beyond what the user's template says.

Only terms are made here: when the template is merged, lists of terms are joined, so that a
user's own affinity holds as well.
"""

from typing import Any

from elasticep.api import names
from elasticep.api.models import GroupSpec

_FULL_WEIGHT = 100
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def leader_affinity(spec: GroupSpec) -> dict[str, Any]:
    """A leader keeps off nodes whose ports are taken."""
    return _off_shared_ports(spec)


def joiner_affinity(spec: GroupSpec, *, group: str, incarnation: str) -> dict[str, Any]:
    """A joiner does too, and is drawn to the leader of its own incarnation.

    Not to the group's, or a successor would gather around the leader that it replaces.
    """
    affinity = _off_shared_ports(spec)
    if spec.placement is None:
        return affinity
    leader = {
        **names.pod_labels(group),
        names.LABEL_ROLE: names.LEADER,
        names.LABEL_INCARNATION: incarnation,
    }
    term = {"labelSelector": {"matchLabels": leader}, "topologyKey": spec.placement.within}
    if spec.placement.required:
        return {**affinity, "podAffinity": {_REQUIRED: [term]}}
    weighted = {"weight": _FULL_WEIGHT, "podAffinityTerm": term}
    return {**affinity, "podAffinity": {_PREFERRED: [weighted]}}


def _off_shared_ports(spec: GroupSpec) -> dict[str, Any]:
    """Pods on their nodes' networks never meet on a node, of whatever group or namespace.

    Apart from the declared ports, which the scheduler keeps apart by itself, an engine binds
    random ones: docs/adr/0008-host-network.md.
    """
    if not spec.host_network:
        return {}
    others = {names.LABEL_MANAGED_BY: names.MANAGED_BY, names.LABEL_HOST_NETWORK: "true"}
    term = {
        "labelSelector": {"matchLabels": others},
        "namespaceSelector": {},
        "topologyKey": names.NODE_NAME_LABEL,
    }
    return {"podAntiAffinity": {_REQUIRED: [term]}}
