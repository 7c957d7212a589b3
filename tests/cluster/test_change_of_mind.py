"""Whatever is asked for amid a move, the last word holds, and nothing is left over."""

import time
from collections.abc import Callable

import pytest
from tests.cluster.groups import LiveGroup, Namespace, eventually
from tests.cluster.moves import (
    AT_ONCE,
    IMAGE,
    NEXT_IMAGE,
    await_settled,
    create_small_group,
    images,
    leftovers,
    pod_uids,
    quick,
    serving_leaders,
    successor,
)

pytestmark = pytest.mark.cluster


@pytest.mark.disturbs
def test_8_6_8_4_0_4_by_kubectl_scale_ends_at_4(namespace: Namespace) -> None:
    group = namespace.create_group(template=quick(), scaleDown=AT_ONCE)
    group.await_size(8)

    for replicas in (2, 3, 1, 0, 1):
        group.scale(replicas)

    await_settled(group, ranks=4, pods=1)
    assert len(namespace.items("services")) == 1
    assert group.complete()["choices"]


@pytest.mark.parametrize(
    ("stabilization", "pause"), [(0, 1.5), (2, 0.0)], ids=["each begun", "stabilised"]
)
def test_sizes_asked_for_without_waiting_end_at_the_last(
    stabilization: int, pause: float, namespace: Namespace
) -> None:
    """What 8, 6, 8, 4, 0, 4 is to a group of leader 4 and joiners 2."""
    group = create_small_group(
        namespace, replicas=3, scaleDown={"stabilizationSeconds": stabilization}
    )
    group.await_size(4)

    for replicas in (2, 3, 1, 0, 1):
        group.scale(replicas)
        time.sleep(pause)

    await_settled(group, ranks=2, pods=1, within=120)
    assert len(namespace.items("services")) == 1
    assert group.complete()["choices"]


def test_a_smaller_size_must_be_asked_for_long_enough_and_a_larger_one_cancels_it(
    namespace: Namespace,
) -> None:
    group = create_small_group(namespace, replicas=2, scaleDown={"stabilizationSeconds": 60})
    group.await_size(3)
    before = pod_uids(group)

    group.scale(1)
    eventually(lambda: group.status().get("scaleDown"), within=15, explain=group.describe)
    assert group.status()["scaleDown"]["epSize"] == 2
    group.scale(2)

    await_settled(group, ranks=3, pods=2, within=15)
    assert pod_uids(group) == before


def test_a_shrink_that_is_disabled_is_reported_and_nothing_moves(namespace: Namespace) -> None:
    group = create_small_group(namespace, replicas=2, scaleDown=AT_ONCE | {"strategy": "Disabled"})
    group.await_size(3)
    before = pod_uids(group)

    group.scale(1)

    group.await_condition("ScaleLimited", "True", "ScaleDownDisabled")
    assert group.condition("Available")[0] == "True"
    assert pod_uids(group) == before


def test_a_newer_spec_drops_the_half_made_successor(namespace: Namespace) -> None:
    group = create_small_group(namespace, replicas=1)
    group.await_size(2)
    old = pod_uids(group)

    group.change(template=quick(LOAD_SECONDS="600"))
    dropped = eventually(lambda: successor(group), within=30, explain=group.describe)
    assert group.status()["move"]["kind"] == "RollOut"
    group.change(template=quick(LOAD_SECONDS="0.6"), engine={"image": NEXT_IMAGE})

    eventually(lambda: images(group) == {NEXT_IMAGE}, within=90, explain=group.describe)
    await_settled(group, ranks=2, pods=1)
    assert group.status()["incarnation"]["id"] != dropped
    assert not set(pod_uids(group)) & set(old)


def test_going_back_to_the_old_spec_drops_the_successor_and_keeps_the_old_pods(
    namespace: Namespace,
) -> None:
    group = create_small_group(namespace, replicas=1)
    group.await_size(2)
    old = pod_uids(group)

    group.change(template=quick(LOAD_SECONDS="600"))
    eventually(lambda: successor(group), within=30, explain=group.describe)
    group.change(template=quick())

    await_settled(group, ranks=2, pods=1, within=30)
    assert pod_uids(group) == old


def test_a_paused_group_stays_as_it_is_and_says_so(namespace: Namespace) -> None:
    group = create_small_group(namespace, replicas=2)
    group.await_size(3)
    before = pod_uids(group)

    group.change(paused=True, replicas=1, engine={"image": NEXT_IMAGE})

    eventually(
        lambda: group.status()["observedGeneration"] == group.read()["metadata"]["generation"],
        within=15,
        explain=group.describe,
    )
    assert group.condition("Ready")[1] == "Paused"
    assert group.condition("Available")[0] == "True"
    time.sleep(3)
    assert pod_uids(group) == before

    group.change(paused=False)
    eventually(lambda: successor(group), within=30, explain=group.describe)


MOVES: dict[str, tuple[Callable[[LiveGroup], None], Callable[[LiveGroup], object]]] = {
    "a growth": (
        lambda group: group.scale(3),
        lambda group: group.status().get("operation"),
    ),
    "a shrink by surge": (lambda group: group.scale(1), successor),
    "a shrink by restart": (
        lambda group: group.change(
            replicas=1, scaleDown=AT_ONCE | {"strategy": "Restart", "drainSeconds": 20}
        ),
        lambda group: not serving_leaders(group),
    ),
    "a roll-out": (lambda group: group.change(engine={"image": NEXT_IMAGE}), successor),
    "a stop": (lambda group: group.scale(0), lambda group: not serving_leaders(group)),
    "a native shrink": (
        lambda group: group.change(replicas=1, scaleDown=AT_ONCE | {"strategy": "Native"}),
        lambda group: group.status().get("operation", {}).get("kind") == "Shrink",
    ),
}


@pytest.mark.parametrize("name", MOVES)
def test_a_group_deleted_half_way_through(name: str, namespace: Namespace) -> None:
    begin, is_half_way = MOVES[name]
    faults = [
        {"do": "timing", "loadSeconds": 4, "when": {"role": "joiner", "offset": 3}},
        {"do": "native_shrink", "safeAfterSeconds": 10},
    ]
    group = create_small_group(namespace, replicas=2, template=quick(*faults, LOAD_SECONDS="2"))
    group.await_size(3)
    assert images(group) == {IMAGE}

    begin(group)
    eventually(lambda: is_half_way(group), within=30, explain=group.describe)
    namespace.kubectl("delete", "eepg", group.name, "--timeout=10s")

    eventually(
        lambda: not leftovers(namespace),
        within=60,
        explain=lambda: str(leftovers(namespace)),
    )
