"""When something that failed is tried again, and when it is not."""

from dataclasses import dataclass
from datetime import timedelta

from elasticep.api import names
from elasticep.api.models import FailureStatus, GroupSpec
from elasticep.api.reasons import AnyWord, Blocked, ReasonWord
from elasticep.plan.view import View

STABLE_AFTER = timedelta(minutes=10)
"""A failure this long after the one before it counts as the first of a new row."""

_FOR_WANT_OF_ROOM = frozenset({Blocked.QUOTA_EXCEEDED})
"""What costs no GPU and ends when others leave: it is waited out, never given up."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """What went wrong, before it is counted."""

    reason: AnyWord
    message: str
    advice: str = ""
    """Something better than what the reason's own explanation advises, if anything."""
    exit_code: int | None = None
    excerpt: str = ""
    lasting: bool = False
    """Whether another try must end the same way."""


def delay(spec: GroupSpec, count: int) -> timedelta:
    """How long to wait after the ``count``-th failure in a row: doubled each time, up to a bound.

    With the defaults that is 10 s to 10 min, and the tries of one row take some five minutes.
    """
    backoff = spec.recovery.backoff
    seconds = backoff.initial_seconds * (1 << min(count - 1, 20))
    return timedelta(seconds=min(seconds, backoff.max_seconds))


def count_failure(view: View, failure: Failure) -> FailureStatus:
    """The failure as it goes on record, after the ones before it.

    The count lives in the group's status, so new pods under new UIDs and a restart of the
    operator do not reset it. One that is lasting, or that spends the budget, has no next try.
    """
    now = view.snapshot.now
    count, interrupted = _row(view, failure)
    spent = count > view.spec.recovery.max_restarts and not _waits_for_room(failure.reason)
    stopped = failure.lasting or spent
    return FailureStatus(
        reason=failure.reason,
        count=count,
        interrupted=interrupted,
        last_exit_code=failure.exit_code,
        message=failure.message,
        advice=_advice(view, failure, count=count, stopped=stopped),
        excerpt=failure.excerpt,
        last_failure_at=now,
        template_hash=_failed_template(view),
        resume=_resume_token(view),
        next_retry_at=None if stopped else now + delay(view.spec, count),
    )


def _row(view: View, failure: Failure) -> tuple[int, int]:
    """How often it has failed in a row with this failure, and how often before there was no room.

    A wait for room is counted by itself, and does not end the row that it interrupts.
    """
    previous, now = view.memory.failures, view.snapshot.now
    if previous is None or _lifted(view, previous):
        return 1, 0
    if now - previous.last_failure_at >= STABLE_AFTER + delay(view.spec, previous.count):
        return 1, 0
    waited, waits = _waits_for_room(previous.reason), _waits_for_room(failure.reason)
    if waited == waits:
        return previous.count + 1, previous.interrupted
    return (1, previous.count) if waits else (previous.interrupted + 1, 0)


def count_once(view: View, failure: Failure) -> FailureStatus:
    """The failure of a joiner, counted unless it is what the back-off under way is for.

    No joiner is made during a back-off, so one that is found failed then is the one that was
    counted, and whoever was to delete it died in between. A template that has changed since
    lifts the back-off for the next incarnation, and makes no joiner for this one.
    """
    known = view.memory.failures
    if known is None or known.template_hash != _failed_template(view):
        return count_failure(view, failure)
    resumed = known.resume != _resume_token(view)
    return count_failure(view, failure) if resumed or _is_due(view, known) else known


def holds(view: View) -> bool:
    """Whether the last failure still forbids another try."""
    failure = view.memory.failures
    return failure is not None and not _lifted(view, failure) and not _is_due(view, failure)


def stands(view: View) -> bool:
    """Whether the last failure is one of what would be tried next."""
    failure = view.memory.failures
    return failure is not None and not _lifted(view, failure)


def is_final(view: View) -> bool:
    """Whether the last failure forbids every other try, until a human changes something."""
    failure = view.memory.failures
    return failure is not None and failure.next_retry_at is None and holds(view)


def _is_due(view: View, failure: FailureStatus) -> bool:
    return failure.next_retry_at is not None and view.snapshot.now >= failure.next_retry_at


def _waits_for_room(reason: str) -> bool:
    return reason in _FOR_WANT_OF_ROOM


def is_history(view: View) -> bool:
    """Whether the last failure is so long ago that nobody needs to read of it."""
    failure = view.memory.failures
    return failure is not None and view.snapshot.now - failure.last_failure_at > STABLE_AFTER


def _advice(view: View, failure: Failure, *, count: int, stopped: bool) -> str:
    explained = failure.reason.advice if isinstance(failure.reason, ReasonWord) else ""
    advice = failure.advice or explained
    if not stopped:
        return advice
    failed = "It would fail again" if failure.lasting else f"It has failed {count} times in a row"
    group = view.group
    return (
        f"{advice} {failed} and is not tried until spec changes (replicas aside), or the "
        f"annotation {names.ANNOTATION_RESUME}: "
        f"kubectl elasticep resume {group.name} --namespace {group.namespace}"
    ).strip()


def _failed_template(view: View) -> str:
    """What the pods that failed were made from; spec may have been mended since."""
    if view.leader is not None:
        return view.leader.template_hash
    incarnation = view.memory.incarnation
    return incarnation.template_hash if incarnation else view.template_hash


def _lifted(view: View, failure: FailureStatus) -> bool:
    """A changed template may have mended what was wrong; a new resume annotation says so."""
    return failure.template_hash != view.template_hash or failure.resume != _resume_token(view)


def _resume_token(view: View) -> str:
    """What stands for the resume annotation, which may be longer than a status field."""
    return names.short_hash(view.group.resume) if view.group.resume else ""
