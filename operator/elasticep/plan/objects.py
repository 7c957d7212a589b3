"""The objects around a group's pods: for its clients, against strangers, against evictions."""

from collections.abc import Iterator, Mapping
from typing import Any

from elasticep.api import names
from elasticep.plan.pods import Blueprint

_OUT_OF_REACH = 2**31 - 1
"""More pods than there can be: whatever the number of them, none can be spared."""

_WHOLE_FIELDS = frozenset({"NetworkPolicy", "PodDisruptionBudget"})
"""Kinds in whose spec a part that somebody adds inside of a field changes what the field says."""


def kept_objects(blueprint: Blueprint) -> Iterator[tuple[dict[str, Any], bool]]:
    """All that is kept as the spec wants it, one of a kind; and whether the spec wants it."""
    yield service(blueprint), True
    yield network_policy(blueprint), blueprint.spec.network_policy.enabled
    yield disruption_budget(blueprint), blueprint.spec.disruption_budget.enabled


def service(blueprint: Blueprint) -> dict[str, Any]:
    """The Service that sends clients to the serving leader, and to nothing else."""
    port = blueprint.spec.engine.port
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(blueprint, names.service(blueprint.group)),
        "spec": {
            "selector": {
                names.LABEL_GROUP: blueprint.group,
                names.LABEL_ROLE: names.LEADER,
                names.LABEL_SERVING: "true",
            },
            "ports": [
                {
                    "name": names.PORT_NAME,
                    "port": port,
                    "protocol": "TCP",
                    "targetPort": names.PORT_NAME,
                }
            ],
        },
    }


def network_policy(blueprint: Blueprint) -> dict[str, Any]:
    """Every port between the group's pods, the HTTP port from everywhere, nothing else inwards.

    A list of ports would not do: besides those that follow from the rendezvous port, the engine
    binds one random port for each rank. They take unauthenticated pickles.
    """
    # By its name, which follows each pod while a changed port is rolled out.
    api = {"port": names.PORT_NAME, "protocol": "TCP"}
    own_pods = {"matchLabels": names.pod_labels(blueprint.group)}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": _metadata(blueprint, names.network_policy(blueprint.group)),
        "spec": {
            "podSelector": own_pods,
            "policyTypes": ["Ingress"],
            "ingress": [{"from": [{"podSelector": own_pods}]}, {"ports": [api]}],
        },
    }


def disruption_budget(blueprint: Blueprint) -> dict[str, Any]:
    """No pod may be evicted: without one of them the whole group has to start again.

    ``maxUnavailable: 0`` would be counted from spec.replicas, so that while a group shrinks, or
    has a successor beside it, the pods beyond that number could be evicted, the serving leader too
    (https://kubernetes.io/docs/tasks/run-application/configure-pdb/#rounding-logic-when-specifying-percentages).
    """
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": _metadata(blueprint, names.disruption_budget(blueprint.group)),
        "spec": {
            "selector": {"matchLabels": names.pod_labels(blueprint.group)},
            "minAvailable": _OUT_OF_REACH,
            # Said, so that one which somebody adds goes: the API server takes only one of the two.
            "maxUnavailable": None,
            # A leader under load may miss a probe. That must not be the moment for an eviction.
            "unhealthyPodEvictionPolicy": "IfHealthyBudget",
        },
    }


def admin_key_secret(blueprint: Blueprint) -> dict[str, Any]:
    """The Secret of the generated admin key, without the key."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": _metadata(blueprint, names.admin_key_secret(blueprint.group)),
        "type": "Opaque",
    }


def _metadata(blueprint: Blueprint, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "namespace": blueprint.namespace,
        "labels": names.common_labels(blueprint.group),
        "ownerReferences": [names.owner_reference(blueprint.group, blueprint.group_uid)],
    }


def is_changed(intent: Mapping[str, Any], live: Mapping[str, Any]) -> bool:
    """Whether ``live`` must be written to be what ``intent`` says."""
    if intent["kind"] in _WHOLE_FIELDS:
        spec = live.get("spec", {})
        if any(spec.get(field) != value for field, value in intent["spec"].items()):
            return True
    return differs(intent, live)


def differs(intent: Any, live: Any) -> bool:
    """Whether ``live`` lacks something that ``intent`` says.

    What the API server and others add is not a difference, or we would write for ever.
    """
    match intent, live:
        case Mapping(), Mapping():
            return any(differs(value, live.get(key)) for key, value in intent.items())
        case list(), list():
            return len(intent) != len(live) or any(map(differs, intent, live))
        case _:
            return bool(intent != live)
