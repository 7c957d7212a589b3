"""An engine that can give ranks back is asked to; only pods that it lets go are deleted."""

import pytest
from tests.cluster.groups import LiveGroup, Namespace, eventually
from tests.cluster.moves import (
    AT_ONCE,
    History,
    await_settled,
    create_small_group,
    pod_uids,
    quick,
    traffic_to,
)

pytestmark = pytest.mark.cluster
NATIVE = AT_ONCE | {"strategy": "Native", "fallback": "Disabled"}


def native_group(namespace: Namespace, *faults: dict[str, object], **more: object) -> LiveGroup:
    """A group of 4 ranks in three pods that is to shrink natively."""
    group = create_small_group(
        namespace, replicas=3, template=quick(*faults), scaleDown=NATIVE | more
    )
    group.await_size(4)
    return group


def test_only_the_tail_goes_and_only_after_the_engine_lets_it_go(namespace: Namespace) -> None:
    """The ranks are safe 4 s after the smaller size serves: who deletes before breaks the group."""
    group = native_group(namespace, {"do": "native_shrink", "safeAfterSeconds": 4})
    before = pod_uids(group)
    leader, _, tail = (pod["metadata"]["name"] for pod in group.pods())
    history = History(namespace)
    with traffic_to(group) as traffic:
        group.scale(2)
        eventually(lambda: group.effective() == 3, within=30, explain=group.describe)
        await_settled(group, ranks=3, pods=2)
    assert history.deletions() == [tail]
    assert set(pod_uids(group)) < set(before)
    assert group.leader()["metadata"]["name"] == leader
    assert group.engine_state()["retired"]["gone_too_early"] == []
    assert not traffic.report().failed, str(traffic.report())


def test_a_shrink_of_several_joiners_and_a_growth_after_it(namespace: Namespace) -> None:
    group = native_group(namespace, {"do": "native_shrink"})
    leader = group.leader()["metadata"]["uid"]

    group.scale(1)
    await_settled(group, ranks=2, pods=1)
    group.scale(3)
    await_settled(group, ranks=4, pods=3)

    assert group.leader()["metadata"]["uid"] == leader
    assert group.engine_state()["retired"]["gone_too_early"] == []


def test_an_engine_that_cannot_shrink_is_not_asked_and_loses_no_pod(namespace: Namespace) -> None:
    group = native_group(namespace)
    before = pod_uids(group)

    group.scale(2)

    group.await_condition("ScaleLimited", "True", "ScaleDownDisabled")
    assert pod_uids(group) == before
    assert group.engine_state()["lost_ranks"] == []


def test_an_engine_that_cannot_shrink_is_replaced_as_the_fallback_says(
    namespace: Namespace,
) -> None:
    group = native_group(namespace, fallback="Surge")
    before = group.status()["incarnation"]["id"]
    with traffic_to(group) as traffic:
        group.scale(2)
        await_settled(group, ranks=3, pods=2)
    assert group.status()["incarnation"]["id"] != before
    assert not traffic.report().failed, str(traffic.report())


def test_an_engine_that_refuses_although_it_could_falls_back_and_says_so(
    namespace: Namespace,
) -> None:
    group = native_group(namespace, {"do": "native_shrink", "refused": True})
    before = pod_uids(group)

    group.scale(2)

    group.await_condition("ScaleLimited", "True", "ScaleDownDisabled")
    assert "must be greater than current" in group.status()["scaleDown"]["refusal"]
    assert pod_uids(group) == before


def test_an_engine_whose_answer_does_not_say_what_is_safe_loses_no_pod(
    namespace: Namespace,
) -> None:
    """Support shows before the shrink and no longer after it, as with a proxy in between."""
    group = native_group(namespace, {"do": "native_shrink", "safeAfterSeconds": 3})
    before = pod_uids(group)

    group.scale(2)
    eventually(lambda: group.effective() == 3, within=30, explain=group.describe)
    group.inject({"do": "native_shrink", "shown": False})
    eventually(
        lambda: group.engine_state()["retired"]["safe"] == [3], within=30, explain=group.describe
    )
    assert pod_uids(group) == before

    group.inject({"do": "native_shrink"})
    await_settled(group, ranks=3, pods=2)
