"""Which incarnation a pod belongs to, and which one comes next."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from elasticep.api import names
from elasticep.api.models import IncarnationStatus
from elasticep.plan.decision import Memory
from elasticep.world.pods import Pod

_OVERDUE_AFTER = timedelta(seconds=15)
"""How long past its grace period a pod that is being deleted still holds up its successor.
A pod on a lost node never goes by itself."""


def answerable(pods: Iterable[Pod], memory: Memory, *, coming: bool) -> tuple[Pod, ...]:
    """The pods that the incarnation on record answers for, or the one that is coming.

    Pods of retiring incarnations are nobody's: they end in an order of their own. While a
    successor is made, every pod younger than the incarnation on record is the successor's, be
    it one that an earlier try has left behind.
    """
    retiring = {each.id for each in memory.retiring}
    left = (pod for pod in pods if pod.incarnation not in retiring)
    if memory.move is None:
        return tuple(left)
    oldest = memory.move.after
    return tuple(pod for pod in left if (pod.serial > oldest) == coming)


def next_incarnation(
    group_uid: str, pods: Iterable[Pod], memory: Memory, *, template_hash: str
) -> IncarnationStatus:
    """The incarnation after every one that is known of; it has no pod yet."""
    serials = [
        *(pod.serial for pod in pods),
        *(each.serial for each in memory.retiring),
        memory.incarnation.serial if memory.incarnation else 0,
        memory.move.successor.serial if memory.move else 0,
    ]
    serial = max(serials) + 1
    return IncarnationStatus(
        id=names.incarnation_id(group_uid, serial), serial=serial, template_hash=template_hash
    )


def may_be_seen_to_go(pod: Pod, now: datetime) -> bool:
    """Whether a pod is being deleted and its kubelet is likely to report its end."""
    return pod.gone_by is not None and now < pod.gone_by + _OVERDUE_AFTER
