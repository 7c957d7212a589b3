"""The groups' series: they say what the statuses say, and end with the groups."""

from datetime import UTC, datetime
from typing import Any

import pytest

from elasticep.run.groups import GroupBook
from elasticep.run.metrics import Metrics
from elasticep.world.key import Key

KEY = Key(namespace="default", name="lite")
NOW = datetime(2026, 1, 1, 12, 1, 30, tzinfo=UTC)


@pytest.fixture
def book() -> GroupBook:
    return GroupBook(metrics=Metrics(), now=lambda: NOW)


def group(*, name: str = "lite", **status: Any) -> dict[str, Any]:
    return {"metadata": {"namespace": "default", "name": name}, "status": status}


def serving(size: int | None, *, ready: str = "True", operation: Any = None) -> dict[str, Any]:
    condition = {
        "type": "Ready",
        "status": ready,
        "reason": "Any",
        "lastTransitionTime": "2026-01-01T12:00:00Z",
        "observedGeneration": 1,
    }
    sizes = {"desired": 8, **({"effective": size} if size is not None else {})}
    more = {"operation": operation} if operation else {}
    return group(conditions=[condition], epSize=sizes, **more)


def operation(came_from: int, to: int, *, at: str = "2026-01-01T12:00:30Z") -> dict[str, Any]:
    return {
        "kind": "Grow" if to > came_from else "Shrink",
        "from": came_from,
        "to": to,
        "phase": "Requested",
        "startedAt": at,
        "deadline": "2026-01-01T13:00:00Z",
    }


def value(book: GroupBook, series: str, **labels: str) -> float | None:
    of_group = labels or {"namespace": KEY.namespace, "name": KEY.name}
    return book.metrics.registry.get_sample_value(series, of_group)


def test_a_group_that_serves(book: GroupBook) -> None:
    book.saw(serving(6))
    assert value(book, "elasticep_ready") == 1
    assert value(book, "elasticep_effective_ep_size") == 6


def test_a_size_that_is_unknown_is_no_number(book: GroupBook) -> None:
    book.saw(serving(6))
    book.saw(serving(None, ready="Unknown"))
    size = value(book, "elasticep_effective_ep_size")
    assert size is not None
    assert size != size, "not a number"
    assert value(book, "elasticep_ready") == 0


def test_a_group_without_a_status_is_not_ready(book: GroupBook) -> None:
    book.saw({"metadata": {"namespace": "default", "name": "lite"}})
    assert value(book, "elasticep_ready") == 0


def test_the_series_of_a_group_end_with_it(book: GroupBook) -> None:
    book.saw(serving(6))
    book.saw(group(name="other"))
    book.lost(KEY)
    book.lost(KEY)
    assert value(book, "elasticep_ready") is None
    assert value(book, "elasticep_effective_ep_size") is None
    assert value(book, "elasticep_ready", namespace="default", name="other") == 0


def test_a_deletion_that_no_watch_has_seen_ends_them_too(book: GroupBook) -> None:
    book.saw(serving(6))
    book.saw(group(name="other"))
    book.keep_only([Key(namespace="default", name="other")])
    assert value(book, "elasticep_ready") is None
    assert value(book, "elasticep_ready", namespace="default", name="other") == 0


@pytest.mark.parametrize(
    ("then", "direction", "outcome"),
    [
        (serving(6), "up", "success"),
        (serving(4), "up", "failure"),
        (serving(None), "up", "failure"),
        (serving(6, operation=operation(6, 8, at="2026-01-01T12:01:00Z")), "up", "success"),
    ],
    ids=["reached", "missed", "unknown", "the next begins at once"],
)
def test_a_scale_is_timed_when_it_ends(
    book: GroupBook, then: dict[str, Any], direction: str, outcome: str
) -> None:
    series = "elasticep_scale_seconds_sum"
    book.saw(serving(4, operation=operation(4, 6)))
    book.saw(serving(4, operation={**operation(4, 6), "phase": "waiting_for_cohort"}))
    assert value(book, series, direction=direction, outcome=outcome) is None
    book.saw(then)
    book.saw(then)
    assert value(book, series, direction=direction, outcome=outcome) == 60


def test_a_scale_down_is_one(book: GroupBook) -> None:
    book.saw(serving(8, operation=operation(8, 4)))
    book.saw(serving(4))
    assert value(book, "elasticep_scale_seconds_sum", direction="down", outcome="success") == 60
