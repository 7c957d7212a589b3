"""What there is to see of a group at one moment, read from the API server's objects."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from elasticep.api import names


@dataclass(frozen=True, kw_only=True)
class PodView:
    """One pod of the group, as a line shows it."""

    name: str
    role: str
    offset: int
    """The first of its ranks."""
    ranks: int
    node: str
    address: str
    state: str


@dataclass(frozen=True, kw_only=True)
class EventView:
    """One event about the group."""

    name: str
    reason: str
    note: str
    alarming: bool


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The group, its pods in the order of their ranks, and its events in the order they came."""

    effective: int = 0
    desired: int = 0
    pending: int | None = None
    ready: bool = False
    busy: bool = False
    """The operator is at work, if only at the end of what served before."""
    reason: str = ""
    message: str = ""
    pods: tuple[PodView, ...] = ()
    events: tuple[EventView, ...] = ()

    @property
    def settled(self) -> bool:
        """No ranks are being added at this moment."""
        return self.pending is None

    @property
    def complete(self) -> bool:
        """The group is as it was asked for, and so is each of its pods."""
        return self.ready and not self.busy and all(pod.state == "Ready" for pod in self.pods)


def read_scene(
    *,
    group: Mapping[str, Any] | None,
    pods: Iterable[Mapping[str, Any]],
    events: Iterable[Mapping[str, Any]],
) -> Scene:
    """The scene that these objects make; a group that is not there yet is an empty one."""
    status = (group or {}).get("status") or {}
    sizes = status.get("epSize") or {}
    conditions = {each["type"]: each for each in status.get("conditions", [])}
    ready = conditions.get("Ready", {})
    views = sorted((_pod(pod) for pod in pods), key=lambda pod: (pod.offset, pod.name))
    return Scene(
        effective=sizes.get("effective") or 0,
        desired=sizes.get("desired") or 0,
        pending=sizes.get("pending"),
        ready=ready.get("status") == "True"
        and status.get("observedGeneration") == (group or {})["metadata"]["generation"],
        busy=conditions.get("Reconciling", {}).get("status") == "True",
        reason=ready.get("reason", ""),
        message=ready.get("message", ""),
        pods=tuple(views),
        events=tuple(_event(event) for event in events),
    )


def of_group(pod: Mapping[str, Any], name: str) -> bool:
    """Whether the pod belongs to the group of this name."""
    return bool(pod["metadata"].get("labels", {}).get(names.LABEL_GROUP) == name)


def happened_at(event: Mapping[str, Any]) -> float:
    """When an event came, or came again, in seconds since the epoch."""
    moment = (event.get("series") or {}).get("lastObservedTime") or event["eventTime"]
    return datetime.fromisoformat(moment).timestamp()


def _pod(pod: Mapping[str, Any]) -> PodView:
    labels = pod["metadata"]["labels"]
    limits = pod["spec"]["containers"][0].get("resources", {}).get("limits", {})
    return PodView(
        name=pod["metadata"]["name"],
        role=labels.get(names.LABEL_ROLE, ""),
        offset=int(labels.get(names.LABEL_OFFSET, 0)),
        ranks=int(limits.get(names.GPU_RESOURCE, 0)),
        node=pod["spec"].get("nodeName", ""),
        address=pod["status"].get("podIP", ""),
        state=_state(pod),
    )


def _state(pod: Mapping[str, Any]) -> str:
    """One word, as `kubectl get pods` would choose it, with Ready told apart from Running."""
    if "deletionTimestamp" in pod["metadata"]:
        return "Terminating"
    for container in pod["status"].get("containerStatuses", []):
        state = container["state"]
        for ended in ("waiting", "terminated"):
            if ended in state:
                return str(state[ended].get("reason", ended.title()))
        return "Ready" if container["ready"] else "Running"
    return str(pod["status"].get("phase", "Pending"))


def _event(event: Mapping[str, Any]) -> EventView:
    return EventView(
        name=event["metadata"]["name"],
        reason=event["reason"],
        note=event.get("note", ""),
        alarming=event.get("type") == "Warning",
    )
