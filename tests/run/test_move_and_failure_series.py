"""The series of moves and failures: made from what one status says and the last one did not."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from elasticep.api.models import (
    FailureStatus,
    GroupStatus,
    IncarnationStatus,
    MoveKind,
    MoveStatus,
    RetiringStatus,
)
from elasticep.run.groups import GroupBook
from elasticep.run.metrics import Metrics

NOON = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
OLD = IncarnationStatus(id="old", serial=1, template_hash="one")
NEW = IncarnationStatus(id="new", serial=2, template_hash="two")
MOVE = MoveStatus(kind=MoveKind.ROLL_OUT, successor=NEW, after=1, started_at=NOON)
GAVE_WAY = RetiringStatus(id="old", serial=1, kind=MoveKind.ROLL_OUT)


class Dashboard:
    """A group book, and the numbers that it has made."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.book = GroupBook(metrics=self.metrics, now=lambda: NOON + timedelta(seconds=30))

    def see(self, **status: Any) -> None:
        shown = GroupStatus(**status).model_dump(mode="json", by_alias=True, exclude_none=True)
        self.book.saw({"metadata": {"namespace": "team", "name": "lite"}, "status": shown})

    def number(self, name: str, **labels: str) -> float | None:
        return self.metrics.registry.get_sample_value(name, labels)


def failure(reason: str, *, minute: int) -> FailureStatus:
    return FailureStatus(reason=reason, last_failure_at=NOON + timedelta(minutes=minute))


@pytest.mark.parametrize(
    ("serves", "retiring", "outcome"),
    [(NEW, (GAVE_WAY,), "success"), (NEW, (), "dropped"), (OLD, (), "dropped")],
    ids=["took over", "was left alone", "was dropped"],
)
def test_a_move_is_measured_when_it_ends(
    serves: IncarnationStatus, retiring: tuple[RetiringStatus, ...], outcome: str
) -> None:
    dashboard = Dashboard()
    dashboard.see(incarnation=OLD, move=MOVE)
    dashboard.see(incarnation=OLD, move=MOVE.model_copy(update={"message": "goes on"}))
    dashboard.see(incarnation=serves, retiring=retiring)

    labels = {"kind": "RollOut", "outcome": outcome}
    assert dashboard.number("elasticep_move_seconds_count", **labels) == 1
    assert dashboard.number("elasticep_move_seconds_sum", **labels) == 30


def test_each_failure_counts_once_however_often_it_is_seen() -> None:
    dashboard = Dashboard()
    dashboard.see()
    for _ in range(3):
        dashboard.see(failures=failure("RankLost", minute=1))
    dashboard.see(failures=failure("RankLost", minute=2))

    assert dashboard.number("elasticep_failures_total", reason="RankLost") == 2


def test_what_is_on_record_when_the_operator_starts_is_not_counted_again() -> None:
    dashboard = Dashboard()
    dashboard.see(failures=failure("RankLost", minute=1))
    dashboard.see(failures=failure("RankLost", minute=1))

    assert dashboard.number("elasticep_failures_total", reason="RankLost") is None
