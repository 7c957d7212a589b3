"""From a pod as the API server gives it to one that the planner understands."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from elasticep.api import names
from elasticep.world.pods import Container, Exit, Pod

JsonObject = dict[str, Any]


def read_pod(raw: JsonObject) -> Pod:
    """The pod, with everything that is missing left at its default."""
    metadata, status = raw["metadata"], raw.get("status", {})
    labels, annotations = metadata.get("labels", {}), metadata.get("annotations", {})
    scheduled = _condition(status, "PodScheduled")
    return Pod(
        name=metadata["name"],
        uid=metadata["uid"],
        role=labels.get(names.LABEL_ROLE, ""),
        incarnation=labels.get(names.LABEL_INCARNATION, ""),
        serial=_number(annotations.get(names.ANNOTATION_SERIAL)),
        offset=_number(labels.get(names.LABEL_OFFSET)),
        leader_life=annotations.get(names.ANNOTATION_LEADER_LIFE, ""),
        template_hash=labels.get(names.LABEL_TEMPLATE_HASH, ""),
        serving=labels.get(names.LABEL_SERVING) == "true",
        has_served=labels.get(names.LABEL_SERVING) == "false",
        phase=status.get("phase", "Pending"),
        reason=status.get("reason", ""),
        message=status.get("message", ""),
        ip=status.get("podIP", ""),
        port=_port(raw.get("spec", {})),
        node=raw.get("spec", {}).get("nodeName", ""),
        ready=_condition(status, "Ready").get("status") == "True",
        unschedulable=(
            scheduled.get("message", "") if scheduled.get("reason") == "Unschedulable" else ""
        ),
        scheduled_at=(
            read_time(scheduled.get("lastTransitionTime"))
            if scheduled.get("status") == "True"
            else None
        ),
        gated=scheduled.get("reason") == "SchedulingGated",
        gone_by=read_time(metadata.get("deletionTimestamp")),
        containers=tuple(_containers(status)),
    )


def _port(spec: JsonObject) -> int:
    ports = (
        port
        for container in spec.get("containers", [])
        if container["name"] == names.CONTAINER
        for port in container.get("ports", [])
    )
    return next((p["containerPort"] for p in ports if p.get("name") == names.PORT_NAME), 0)


def read_time(text: str | None) -> datetime | None:
    """The moment that an API object's timestamp names."""
    return datetime.fromisoformat(text) if text else None


def controller_uid(raw: JsonObject) -> str:
    """The UID of the object's controller; empty when it has none."""
    owners = raw["metadata"].get("ownerReferences", [])
    return next((str(owner["uid"]) for owner in owners if owner.get("controller")), "")


def _containers(status: JsonObject) -> Iterator[Container]:
    for raw in status.get("initContainerStatuses", []):
        yield _container(raw, init=True)
    for raw in status.get("containerStatuses", []):
        yield _container(raw, init=False)


def _container(raw: JsonObject, *, init: bool) -> Container:
    state, last = raw.get("state", {}), raw.get("lastState", {})
    running, waiting = state.get("running"), state.get("waiting", {})
    return Container(
        name=raw["name"],
        init=init,
        container_id=raw.get("containerID", ""),
        running=running is not None,
        ready=raw.get("ready", False),
        started_at=read_time((running or {}).get("startedAt")),
        restarts=raw.get("restartCount", 0),
        waiting_reason=waiting.get("reason", ""),
        waiting_message=waiting.get("message", ""),
        exit=_exit(state.get("terminated")),
        last_exit=_exit(last.get("terminated")),
    )


def _exit(raw: JsonObject | None) -> Exit | None:
    if raw is None:
        return None
    return Exit(
        code=raw.get("exitCode", 0),
        reason=raw.get("reason", ""),
        message=raw.get("message", ""),
        started_at=read_time(raw.get("startedAt")),
        finished_at=read_time(raw.get("finishedAt")),
    )


def _condition(status: JsonObject, kind: str) -> JsonObject:
    found = (c for c in status.get("conditions", []) if c.get("type") == kind)
    return next(found, {})


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0
