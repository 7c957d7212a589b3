"""The objects around a group's pods: the Service that clients use and the admin key's Secret."""

from collections.abc import Iterator, Mapping
from typing import Any

from elasticep.api import names
from elasticep.plan.pods import Blueprint


def kept_objects(blueprint: Blueprint) -> Iterator[tuple[dict[str, Any], bool]]:
    """All that is kept as the spec wants it, one of a kind; and whether the spec wants it."""
    yield service(blueprint), True


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
