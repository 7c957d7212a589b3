"""The leader's state machine, step by step."""

from __future__ import annotations

import pytest
from tests.simengine.lives import TIMEOUT, fresh, grow, join

from simengine.scale_protocol import RECOVERY_IS_UNSUPPORTED, STILL_PENDING, Admission


def test_new_group_is_idle_at_launch_size() -> None:
    assert fresh().status() == {
        "is_scaling_elastic_ep": False,
        "effective_ep_size": 4,
        "pending_ep_size": None,
        "scale_phase": "idle",
        "last_error": None,
    }


@pytest.mark.parametrize(
    ("target", "text"),
    [
        (3, "new_ep_size (3) must be greater than current effective_ep_size (4)."),
        (4, "new_ep_size (4) must be greater than current effective_ep_size (4)."),
        (9, "new_ep_size (9) exceeds --max-ep-size (8). Restart with a larger --max-ep-size."),
    ],
)
def test_impossible_target_is_refused_and_shown_as_the_last_error(target: int, text: str) -> None:
    group = fresh()
    answer = group.request_scale(target, now=0)
    assert (answer.status, answer.body) == (400, {"error": text})
    assert group.status()["last_error"] == text


def test_refusal_hides_the_phase_that_was_shown_before() -> None:
    group = fresh()
    grow(group, 6)
    group.request_scale(5, now=2)
    assert group.status()["scale_phase"] == "idle"
    assert group.internal_state()["scale_phase"] == "serving_expanded"


def test_accepted_target_is_pending_and_a_second_one_conflicts() -> None:
    group = fresh()
    answer = group.request_scale(6, now=0)
    assert answer.body == {
        "message": "Scaling initiated from 4 to 6",
        "old_ep_size": 4,
        "new_ep_size": 6,
    }
    second = group.request_scale(8, now=1)
    assert (second.status, second.body) == (409, {"error": STILL_PENDING})
    assert group.status()["pending_ep_size"] == 6


def test_nothing_moves_without_a_forward_pass() -> None:
    group = fresh()
    group.request_scale(6, now=0)
    join(group, offset=4, target=6)
    assert group.internal_state()["scale_phase"] == "waiting_for_cohort"


def test_timeout_strikes_upon_a_forward_pass_only() -> None:
    group = fresh()
    group.request_scale(6, now=0)
    assert group.forward_pass(now=TIMEOUT) is None
    assert group.status()["scale_phase"] == "waiting_for_cohort"
    group.forward_pass(now=TIMEOUT + 1)
    assert group.status() == {
        "is_scaling_elastic_ep": False,
        "effective_ep_size": 4,
        "pending_ep_size": None,
        "scale_phase": "failed",
        "last_error": "Timed out waiting for ranks to join target EP size 6",
    }
    assert group.request_scale(6, now=TIMEOUT + 2).accepted


def test_cohort_with_another_target_fails_the_operation_at_once() -> None:
    group = fresh()
    join(group, offset=4, target=8)
    group.request_scale(6, now=0)
    group.forward_pass(now=1)
    assert group.status()["last_error"] == (
        "Requested target EP size 6 does not match joining cohort target 8"
    )


def test_registration_outlives_its_joiner_until_another_overwrites_it() -> None:
    group = fresh()
    join(group, offset=4, target=8)
    group.ranks_gone(range(4, 8))
    group.request_scale(6, now=0)
    group.forward_pass(now=1)
    assert group.status()["scale_phase"] == "failed"
    grow(group, 6)
    assert group.effective == 6


def test_dead_joiner_with_the_right_target_is_waited_for_until_the_timeout() -> None:
    group = fresh()
    join(group, offset=4, target=6)
    group.ranks_gone(range(4, 6))
    group.request_scale(6, now=0)
    assert group.forward_pass(now=1) is None
    assert group.internal_state()["scale_phase"] == "joining"
    group.forward_pass(now=TIMEOUT + 1)
    assert group.status()["scale_phase"] == "failed"


def test_http_never_shows_the_steps_between_request_and_outcome() -> None:
    group = fresh()
    group.request_scale(6, now=0)
    join(group, offset=4, target=6)
    step = group.forward_pass(now=1)
    assert isinstance(step, Admission)
    assert group.status()["scale_phase"] == "waiting_for_cohort"
    group.mark_syncing()
    assert group.internal_state()["scale_phase"] == "syncing_new_world"
    assert group.status()["scale_phase"] == "waiting_for_cohort"
    group.commit(step)
    assert group.status()["scale_phase"] == "serving_expanded"


def test_joiner_may_register_after_the_request() -> None:
    group = fresh()
    group.request_scale(6, now=0)
    assert group.forward_pass(now=1) is None
    join(group, offset=4, target=6)
    assert group.forward_pass(now=2) == Admission(offset=4, target=6)


def test_rank_lost_before_any_growth_comes_back_with_a_recovering_joiner() -> None:
    group = fresh()
    group.ranks_gone([2])
    assert group.forward_pass(now=1) is None
    assert group.lost == [2]
    assert group.request_scale(6, now=1).status == 400
    group.ranks_ready([2])
    group.forward_pass(now=2)
    assert group.lost == []
    assert group.request_scale(6, now=3).accepted


def test_rank_lost_after_growth_is_final() -> None:
    group = fresh()
    grow(group, 6)
    group.ranks_gone([5])
    group.forward_pass(now=2)
    shown = group.status()
    assert (shown["scale_phase"], shown["last_error"]) == ("failed", RECOVERY_IS_UNSUPPORTED)
    assert shown["effective_ep_size"] == 6
    refused = group.request_scale(8, now=3)
    assert refused.status == 400
    assert group.status()["scale_phase"] == "recovery_unsupported"


def test_rank_that_dies_while_it_is_admitted_is_lost() -> None:
    group = fresh()
    join(group, offset=4, target=6)
    group.request_scale(6, now=0)
    step = group.forward_pass(now=1)
    assert isinstance(step, Admission)
    group.ranks_gone([5])
    group.commit(step)
    assert (group.effective, group.lost) == (6, [5])
