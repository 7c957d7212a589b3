"""The groups' statuses as metrics: whatever the objects say, the dashboards say."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from elasticep.api.models import GroupStatus, MoveStatus, OperationStatus
from elasticep.api.reading import read_status
from elasticep.plan.events import took_over
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
        if key in self._last:
            self._note_ends(self._last[key], status)
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

    def _note_ends(self, before: GroupStatus, after: GroupStatus) -> None:
        """What one status says that the one before it did not: changes that ended, and failures."""
        scale, move, failure = before.operation, before.move, after.failures
        if scale is not None and not _goes_on(scale, after.operation):
            self.metrics.scale_ended(
                direction="up" if scale.kind == "Grow" else "down",
                outcome="success" if after.ep_size.effective == scale.to else "failure",
                seconds=self._since(scale.started_at),
            )
        if move is not None and not _goes_on(move, after.move):
            self.metrics.move_ended(
                kind=move.kind,
                outcome="success" if took_over(before, after) else "dropped",
                seconds=self._since(move.started_at),
            )
        known = before.failures
        if failure and (known is None or known.last_failure_at != failure.last_failure_at):
            self.metrics.failed(failure.reason)

    def _since(self, moment: datetime) -> float:
        return max(0.0, (self.now() - moment).total_seconds())


def _goes_on(
    before: OperationStatus | MoveStatus, after: OperationStatus | MoveStatus | None
) -> bool:
    return after is not None and after.started_at == before.started_at


def key_of(group: Mapping[str, Any]) -> Key:
    """The key of a group's object."""
    metadata = group["metadata"]
    return Key(namespace=metadata["namespace"], name=metadata["name"])
