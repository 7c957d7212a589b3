"""When something that failed is tried again."""

from datetime import datetime, timedelta

from elasticep.api.models import FailureStatus

FIRST_DELAY = timedelta(seconds=10)
LONGEST_DELAY = timedelta(minutes=10)
STABLE_AFTER = timedelta(minutes=10)
"""A failure this long after the one before it counts as the first of a new row."""


def delay(count: int) -> timedelta:
    """How long to wait after the ``count``-th failure in a row: 10 s, doubled, up to 10 min."""
    return min(FIRST_DELAY * (1 << min(count - 1, 10)), LONGEST_DELAY)


def next_failure(
    previous: FailureStatus | None,
    *,
    reason: str,
    message: str,
    advice: str,
    now: datetime,
    template_hash: str,
    lasting: bool = False,
) -> FailureStatus:
    """The failure that follows ``previous``; a lasting one has no next try.

    The count lives in the group's status, so new pods under new UIDs and a restart of the
    operator do not reset it.
    """
    in_a_row = previous is not None and now - previous.last_failure_at < STABLE_AFTER
    count = previous.count + 1 if previous is not None and in_a_row else 1
    return FailureStatus(
        reason=reason,
        count=count,
        message=message,
        advice=advice,
        last_failure_at=now,
        next_retry_at=None if lasting else now + delay(count),
        template_hash=template_hash,
    )


def holds(failure: FailureStatus | None, *, now: datetime, template_hash: str) -> bool:
    """Whether ``failure`` still forbids another try.

    A changed template lifts it: whatever was wrong may have been mended.
    """
    if failure is None or failure.template_hash != template_hash:
        return False
    return failure.next_retry_at is None or now < failure.next_retry_at
