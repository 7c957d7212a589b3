"""The group's status and its events, written when they differ from what stands there."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from elasticep.api import names
from elasticep.api.models import GroupStatus
from elasticep.kube.port import EVENTS, GROUPS, AlreadyExistsError, Kube, KubeError
from elasticep.plan.events import Event, events_between
from elasticep.world.snapshot import Group

_LOG = logging.getLogger(__name__)

_NOTE_BYTES = 1024
"""The API server refuses a longer note, and counts bytes where it says characters."""


@dataclass(frozen=True, kw_only=True)
class Reporter:
    """The only writer of a group's status."""

    kube: Kube
    instance: str
    """Which process reports: the operator's pod name."""
    now: Callable[[], datetime]

    async def report(self, group: Group, status: GroupStatus) -> Group:
        """The group with ``status`` on record; nothing is written when it stands there already.

        Raises:
            ConflictError: somebody changed the group since it was read.
        """
        if status == group.status:
            return group
        body = {
            "apiVersion": names.API_VERSION,
            "kind": names.KIND,
            "metadata": {
                "name": group.name,
                "namespace": group.namespace,
                "uid": group.uid,
                # Somebody else's newer spec, or another operator's status, wins.
                "resourceVersion": group.resource_version,
            },
            "status": status.model_dump(mode="json", by_alias=True, exclude_none=True),
        }
        written = await self.kube.apply(
            GROUPS, body, manager=names.STATUS_FIELD_MANAGER, subresource="status"
        )
        for event in events_between(group.status, status):
            await self._post(group, event)
        version = written["metadata"]["resourceVersion"]
        return replace(group, status=status, resource_version=version)

    async def _post(self, group: Group, event: Event) -> None:
        """Post one event; the same words again within an event's lifetime are counted on it.

        An event that cannot be posted is lost: the status says the same, and a group must not
        stand still for a line in ``kubectl describe``.
        """
        name = f"{group.name}.{names.short_hash(group.uid, event.reason, event.note)}"
        try:
            try:
                await self.kube.create(EVENTS, self._new(group, event, name))
            except AlreadyExistsError:
                await self._count(group, name)
        except KubeError as error:
            _LOG.warning("event %s was not posted: %s", event.reason, error)

    async def _count(self, group: Group, name: str) -> None:
        known = await self.kube.get(EVENTS, group.namespace, name)
        count = known.get("series", {}).get("count", 1) + 1
        series = {"count": count, "lastObservedTime": _micro(self.now())}
        await self.kube.replace(EVENTS, {**known, "series": series})

    def _new(self, group: Group, event: Event, name: str) -> dict[str, Any]:
        return {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": group.namespace},
            "eventTime": _micro(self.now()),
            "type": event.type,
            "reason": event.reason,
            "action": event.action,
            "note": event.note.encode()[:_NOTE_BYTES].decode(errors="ignore"),
            "reportingController": names.REPORTING_CONTROLLER,
            "reportingInstance": self.instance,
            "regarding": {
                "apiVersion": names.API_VERSION,
                "kind": names.KIND,
                "name": group.name,
                "namespace": group.namespace,
                "uid": group.uid,
            },
        }


def _micro(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
