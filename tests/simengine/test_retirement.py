"""An engine that can retire its last ranks, as sglang pull request 33111 proposes it."""

from __future__ import annotations

from tests.simengine.lives import fresh, grow

from simengine.faults import NativeShrink
from simengine.scale_protocol import RECOVERY_IS_UNSUPPORTED, STILL_PENDING
from simengine.state_machine import ElasticGroup


def shrinking(**how: bool) -> ElasticGroup:
    """A group of 6 whose engine can shrink."""
    group = fresh(NativeShrink(do="native_shrink", **how))
    grow(group, 6)
    group.forward_pass(now=1)
    return group


def shrink(group: ElasticGroup, target: int) -> None:
    assert group.request_scale(target, now=2).accepted
    while group.pending is not None:
        group.forward_pass(now=3)


def test_native_shrink_walks_through_its_phases_and_names_the_ranks_that_may_go() -> None:
    group = shrinking()
    assert group.request_scale(4, now=2).accepted
    shown = []
    while group.pending is not None:
        shown.append(group.status()["scale_phase"])
        assert group.status()["safe_to_terminate_ranks"] == []
        group.forward_pass(now=3)
    assert shown == ["draining", "retiring", "reconfiguring"]
    shrunk = group.status()
    assert (shrunk["scale_phase"], shrunk["effective_ep_size"]) == ("serving_shrunk", 4)
    assert shrunk["safe_to_terminate_ranks"] == []
    assert group.retirement.release() == range(4, 6)
    assert group.status()["safe_to_terminate_ranks"] == [4, 5]
    group.ranks_gone([4, 5])
    assert group.lost == []


def test_retired_rank_that_ends_before_it_is_safe_breaks_the_group() -> None:
    group = shrinking()
    shrink(group, 4)
    group.ranks_gone([4, 5])
    assert group.lost == [4, 5]
    group.forward_pass(now=4)
    assert group.status()["last_error"] == RECOVERY_IS_UNSUPPORTED
    assert group.retirement.report() == {"parting": [], "safe": [], "gone_too_early": [4, 5]}


def test_requests_of_ranks_that_are_to_go_are_finished_first() -> None:
    group = shrinking()
    group.request_scale(4, now=2)
    assert group.open_ranks == 4
    group.forward_pass(now=3, busy_ranks={0, 5})
    assert group.status()["scale_phase"] == "draining"
    group.forward_pass(now=3, busy_ranks={0, 3})
    assert group.status()["scale_phase"] == "retiring"


def test_no_other_size_while_retired_ranks_are_not_safe() -> None:
    group = shrinking()
    shrink(group, 4)
    assert group.request_scale(6, now=4).body == {"error": STILL_PENDING}
    group.retirement.release()
    assert group.request_scale(6, now=5).accepted
    assert group.status()["safe_to_terminate_ranks"] == []


def test_engine_may_show_that_it_can_shrink_and_refuse_all_the_same() -> None:
    group = shrinking(refused=True)
    assert group.status()["safe_to_terminate_ranks"] == []
    assert group.request_scale(4, now=2).status == 400
    assert group.effective == 6


def test_engine_may_shrink_without_showing_that_it_can() -> None:
    group = shrinking(shown=False)
    assert group.request_scale(4, now=2).accepted
    assert "safe_to_terminate_ranks" not in group.status()


def test_native_growth_warms_up_for_one_forward_pass() -> None:
    group = fresh(NativeShrink(do="native_shrink"))
    grow(group, 6)
    assert group.status()["scale_phase"] == "warming_up"
    group.forward_pass(now=2)
    assert group.status()["scale_phase"] == "serving_expanded"
