"""The groups' statuses as metrics: whatever the objects say, the dashboards say."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from elasticep.api.models import GroupStatus
from elasticep.api.reading import read_status
from elasticep.run.metrics import Metrics
from elasticep.world.key import Key


@dataclass(kw_only=True)
class GroupBook:
    """The last status seen of each group, and the series made from it."""

    metrics: Metrics
    now: Callable[[], datetime]
    _last: dict[Key, GroupStatus] = field(default_factory=dict, init=False)

    def saw(self, group: Mapping[str, Any]) -> None:
        """The object as a watch or a list has shown it."""
        key = key_of(group)
        status = read_status(group)
        self._note_end_of_scale(self._last.get(key), status)
        self._last[key] = status
        self.metrics.group_is(key, ready=status.holds("Ready"), ep_size=status.ep_size.effective)

    def lost(self, key: Key) -> None:
        """The group is gone, and its series go too."""
        if self._last.pop(key, None) is not None:
            self.metrics.group_gone(key)

    def keep_only(self, keys: Collection[Key]) -> None:
        """Only these groups exist: a watch that broke does not tell of deletions."""
        for key in self._last.keys() - set(keys):
            self.lost(key)

    def _note_end_of_scale(self, before: GroupStatus | None, after: GroupStatus) -> None:
        operation = before.operation if before is not None else None
        if operation is None:
            return
        if after.operation is not None and after.operation.started_at == operation.started_at:
            return
        self.metrics.scale_ended(
            direction="up" if operation.to > operation.from_ else "down",
            outcome="success" if after.ep_size.effective == operation.to else "failure",
            seconds=max(0.0, (self.now() - operation.started_at).total_seconds()),
        )


def key_of(group: Mapping[str, Any]) -> Key:
    """The key of a group's object."""
    metadata = group["metadata"]
    return Key(namespace=metadata["namespace"], name=metadata["name"])
