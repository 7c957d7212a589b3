"""What a group's status comes to, in words."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from elasticep.cli.account import account

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


def condition(kind: str, value: str, reason: str, message: str = "") -> dict[str, Any]:
    moment = NOW.isoformat()
    return {
        "type": kind,
        "status": value,
        "reason": reason,
        "message": message,
        "lastTransitionTime": moment,
    }


def told(*conditions: dict[str, Any], **status: Any) -> str:
    metadata = {"name": "lite", "namespace": "default", "generation": 1}
    seen = {"observedGeneration": 1, "conditions": list(conditions), **status}
    return account({"metadata": metadata, "status": seen}, now=NOW)


def test_all_is_well() -> None:
    words = told(
        condition("Ready", "True", "AllRanksServing"),
        condition("Available", "True", "Serving"),
        condition("Stalled", "False", "NotStalled"),
        epSize={"desired": 8, "effective": 8},
    )
    assert words == (
        "lite in namespace default: serves with EP size 8, as wanted\n\nNothing is in its way."
    )


def test_an_engine_that_cannot_be_asked_is_not_said_to_serve() -> None:
    words = told(
        condition("Available", "Unknown", "EngineUnreachable", "no answer."), epSize={"desired": 8}
    )
    assert "cannot be asked" in words
    assert "Available unknown: EngineUnreachable" in words


def test_a_reason_that_is_not_known_here_is_quoted() -> None:
    words = told(condition("Ready", "False", "SolarFlare", "bits were flipped"))
    assert words.endswith("not Ready: SolarFlare\n  bits were flipped")


@pytest.mark.parametrize(
    ("due", "words"),
    [
        (timedelta(seconds=10), "Next try: in 10 s"),
        (timedelta(minutes=10), "Next try: in 10 min"),
        (timedelta(seconds=-1), "Next try: under way"),
        (None, "Next try: none by itself"),
    ],
)
def test_the_next_try_is_told(due: timedelta | None, words: str) -> None:
    failure = {
        "reason": "JoinTimedOut",
        "message": "EP size 4 → 6 failed",
        "advice": "Raise engine.scaleTimeoutSeconds.",
        "lastFailureAt": (NOW - timedelta(hours=3)).isoformat(),
    }
    if due is not None:
        failure["nextRetryAt"] = (NOW + due).isoformat()
    account_of_it = told(condition("Ready", "False", "JoinTimedOut", "twice"), failures=failure)
    assert words in account_of_it
    assert "Failed once: JoinTimedOut, last 3 h ago" in account_of_it
    assert "twice" not in account_of_it, "what failed is told by its own paragraph"


def test_a_failure_that_is_over_asks_for_nothing() -> None:
    failure = {
        "reason": "RankLost",
        "message": "the ranks from 4 on were lost",
        "advice": "Nothing.",
        "lastFailureAt": (NOW - timedelta(minutes=5)).isoformat(),
        "nextRetryAt": (NOW - timedelta(minutes=4)).isoformat(),
    }
    words = told(condition("Ready", "True", "AllRanksServing"), failures=failure)
    assert "Failed once: RankLost, last 5 min ago" in words
    assert "It is over" in words
    assert "Next try" not in words
