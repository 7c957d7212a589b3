"""Whether a pod was made from the template that the spec asks for now.

The hash is taken from the intent, never from a live pod: admission webhooks change those.
"""

import json
from collections.abc import Mapping

from elasticep.api.models import GroupSpec
from elasticep.api.names import short_hash

_NOT_IN_TEMPLATE: Mapping[str, bool | set[str]] = {
    "replicas": True,
    "paused": True,
    "scale_down": True,
    "recovery": True,
    "rollout": True,
    "network_policy": True,
    "disruption_budget": True,
    "engine": {"start_timeout_seconds"},
}
"""A change of these shapes no pod: the operator alone reads them."""


def template_hash(spec: GroupSpec) -> str:
    """Six characters that change when a pod of the group would be made differently.

    Fields at their default are left out: a field that a later release adds changes no hash,
    so an upgrade of the operator restarts no pod.
    """
    intent = spec.model_dump(
        mode="json", by_alias=True, exclude_defaults=True, exclude=_NOT_IN_TEMPLATE
    )
    return short_hash(json.dumps(intent, sort_keys=True, separators=(",", ":")))
