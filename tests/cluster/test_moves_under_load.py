"""Moves between incarnations while 20 requests a second come in: what is lost, and what is not."""

import time

import pytest
from tests.cluster.groups import Namespace, eventually
from tests.cluster.moves import (
    AT_ONCE,
    NEXT_IMAGE,
    History,
    all_pods,
    await_settled,
    create_small_group,
    images,
    pod_uids,
    quick,
    traffic_to,
)

from testbed.traffic import Fate

pytestmark = pytest.mark.cluster

CALM = 6
"""Seconds between two moves that make two outages, not one."""


@pytest.mark.disturbs
def test_growth_shrink_and_roll_out_by_surge_lose_no_request(namespace: Namespace) -> None:
    """4 to 8 to 4 and another image; engines end as real ones do, the nodes are this group's."""
    group = namespace.create_group(replicas=1, scaleDown=AT_ONCE)
    group.await_size(4)
    with traffic_to(group) as traffic:
        group.scale(3)
        group.await_size(8)
        group.scale(1)
        await_settled(group, ranks=4, pods=1)
        group.change(engine={"image": NEXT_IMAGE})
        eventually(lambda: images(group) == {NEXT_IMAGE}, within=90, explain=group.describe)
        await_settled(group, ranks=4, pods=1)
        time.sleep(1)
    report = traffic.report()
    assert not report.failed, f"{report}\n{group.describe()}"


def test_clients_that_keep_their_connections_lose_what_they_send_last_to_the_old_leader(
    namespace: Namespace,
) -> None:
    """A connection that stands goes on to the same pod, whatever the Service says by now.

    So this old leader is never without requests, and is killed with some when its time is over.
    """
    template = quick()
    template["spec"]["terminationGracePeriodSeconds"] = 3
    group = create_small_group(
        namespace, replicas=2, template=template, scaleDown=AT_ONCE | {"drainSeconds": 5}
    )
    group.await_size(3)
    with traffic_to(group, keep_alive=True) as traffic:
        group.scale(1)
        await_settled(group, ranks=2, pods=1)
        time.sleep(1)
    report = traffic.report()
    assert report.of(Fate.LOST), str(report)
    assert len(report.outages) == 1, str(report)
    assert report.downtime < 2, str(report)
    assert not report.of(Fate.TURNED_AWAY), str(report)


def test_restarts_lose_only_what_comes_while_they_say_that_nothing_serves(
    namespace: Namespace,
) -> None:
    group = create_small_group(
        namespace,
        replicas=3,
        scaleDown=AT_ONCE | {"strategy": "Restart", "drainSeconds": 20},
        rollout={"strategy": "Restart"},
    )
    group.await_size(4)
    history = History(namespace)
    with traffic_to(group) as traffic:
        time.sleep(1)
        group.scale(1)
        await_settled(group, ranks=2, pods=1)
        time.sleep(CALM)
        group.change(engine={"image": NEXT_IMAGE})
        eventually(lambda: images(group) == {NEXT_IMAGE}, within=60, explain=group.describe)
        await_settled(group, ranks=2, pods=1)
        time.sleep(1)
    report = traffic.report()
    assert not report.of(Fate.LOST), f"{report}\n{group.describe()}"
    stated = history.spans("Available", "False")
    assert (len(report.outages), len(stated)) == (2, 2), str(report)
    for outage, (began, ended) in zip(report.outages, stated, strict=True):
        assert began - 2 < outage.began_at, str(report)
        assert outage.ended_at < ended + 2, str(report)


def test_a_rank_lost_is_recovered_by_surge_while_the_leader_still_answers(
    namespace: Namespace,
) -> None:
    serves_on = quick({"do": "after_rank_loss", "requests": "serve"})
    group = create_small_group(
        namespace, replicas=2, template=serves_on, recovery={"strategy": "Surge"}
    )
    group.await_size(3)
    before = group.status()["incarnation"]
    with traffic_to(group) as traffic:
        joiner = group.pods("joiner")[0]["metadata"]["name"]
        namespace.kubectl("delete", "pod", joiner, "--wait=false")
        eventually(
            lambda: group.status()["incarnation"]["serial"] > before["serial"],
            within=60,
            explain=group.describe,
        )
        await_settled(group, ranks=3, pods=2)
    report = traffic.report()
    assert not report.failed, f"{report}\n{group.describe()}"


def test_two_groups_named_alike_move_without_touching_each_other(namespace: Namespace) -> None:
    first, second = (create_small_group(namespace, name, replicas=2) for name in ("a", "a-1"))
    first.await_size(3)
    second.await_size(3)
    untouched = pod_uids(second)
    with traffic_to(second) as traffic:
        first.change(replicas=1, engine={"image": NEXT_IMAGE})
        eventually(lambda: images(first) == {NEXT_IMAGE}, within=60, explain=first.describe)
        await_settled(first, ranks=2, pods=1)
        namespace.kubectl("delete", "eepg", "a")
        eventually(lambda: not all_pods(first), within=60)
    assert pod_uids(second) == untouched
    assert not traffic.report().failed, str(traffic.report())
    assert second.condition("Ready")[0] == "True"
