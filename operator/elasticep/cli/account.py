"""What a group's status comes to, in words for somebody who has never seen one."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from elasticep.api.models import Condition, ConditionStatus, FailureStatus, GroupStatus
from elasticep.api.reading import read_status
from elasticep.cli.reasons import explanation

_UNSEEN = "the operator has not looked at it yet: is it running, and does it watch this namespace?"
_WANTED = {"Ready", "Available"}
"""Conditions that matter when they are not True; the others matter when they are."""


def account(group: Mapping[str, Any], *, now: datetime) -> str:
    """What the group does, what is in its way, and what to do about it."""
    status = read_status(group)
    metadata = group["metadata"]
    parts = [f"{metadata['name']} in namespace {metadata['namespace']}: {_sizes(status)}"]
    if status.observed_generation != metadata["generation"]:
        parts.append(f"Its spec is newer than this status; {_UNSEEN}")
    parts += _conditions(status)
    if status.failures is not None:
        parts.append(_failure(status.failures, now, over=status.holds("Ready")))
    return "\n\n".join(parts)


def _sizes(status: GroupStatus) -> str:
    if not status.conditions:
        return _UNSEEN
    size = status.ep_size
    if size.effective is None:
        serves = "its engine cannot be asked which EP size it serves with"
    else:
        serves = f"serves with EP size {size.effective}" if size.effective else "does not serve"
    wanted = f"{size.desired} are wanted" if size.effective != size.desired else "as wanted"
    return f"{serves}, {wanted}"


def _conditions(status: GroupStatus) -> Iterator[str]:
    """One paragraph for each thing that is told, however many conditions tell it."""
    told: dict[tuple[str, str], list[str]] = {}
    for condition in status.conditions:
        if word := _matters(condition):
            told.setdefault((condition.reason, condition.message), []).append(word)
    failed = status.failures.reason if status.failures else None
    for (reason, message), words in told.items():
        # What the failure's own paragraph tells is not told twice.
        yield _paragraph(", ".join(words), reason, "" if reason == failed else message)
    if not told and status.conditions:
        yield "Nothing is in its way."


def _matters(condition: Condition) -> str:
    """How the condition is told; empty when all is well with it."""
    if condition.status is ConditionStatus.UNKNOWN:
        return f"{condition.type} unknown"
    if condition.type in _WANTED:
        return "" if condition.status is ConditionStatus.TRUE else f"not {condition.type}"
    return condition.type if condition.status is ConditionStatus.TRUE else ""


def _paragraph(conditions: str, reason: str, message: str) -> str:
    known = explanation(reason)
    title = f"{conditions}: {reason}"
    if known is None:
        return "\n".join([title, f"  {message}"])
    lines = [f"{title} ({known.outlook})", f"  {known.meaning}"]
    return "\n".join([*lines, f"  {message}"] if message else lines)


def _failure(failure: FailureStatus, now: datetime, *, over: bool) -> str:
    """The last failure; it stays in the status for a while when the group has got ``over`` it."""
    times = "once" if failure.count == 1 else f"{failure.count} times in a row"
    code = "" if failure.last_exit_code is None else f", exit code {failure.last_exit_code}"
    ago = _duration(now - failure.last_failure_at)
    lines = [f"Failed {times}: {failure.reason}, last {ago} ago{code}", f"  {failure.message}"]
    if over:
        lines.append("  It is over: the group is Ready again.")
    else:
        lines += [f"  What to do: {failure.advice}", f"  Next try: {_next_try(failure, now)}"]
    if failure.excerpt:
        lines += ["  Its last words:", *(f"  | {line}" for line in failure.excerpt.splitlines())]
    return "\n".join(lines)


def _next_try(failure: FailureStatus, now: datetime) -> str:
    if failure.next_retry_at is None:
        return "none by itself"
    if failure.next_retry_at <= now:
        return "under way"
    return f"in {_duration(failure.next_retry_at - now)}"


def _duration(length: timedelta) -> str:
    seconds = max(int(length.total_seconds()), 0)
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
