"""Engines that answer badly, late or never, as users of SGLang and Dynamo have met them.

Each docstring names the public report.
"""

from datetime import timedelta

from tests.reconcile.engine_stub import EngineStub
from tests.reconcile.place import NAMESPACE, Place

from elasticep.kube.port import GROUPS

HOUR = timedelta(hours=1)


def want(place: Place, replicas: int) -> None:
    place.kube.change(GROUPS, NAMESPACE, "lite", lambda m: m["spec"].update(replicas=replicas))


async def test_a_request_that_was_accepted_and_not_answered_is_not_repeated(
    place: Place, stub: EngineStub
) -> None:
    """sgl-project/sglang#35376, #39834."""
    await place.make_group(replicas=2)
    stub.resets = 1

    await place.look_until_quiet()

    assert stub.asked == [6]
    assert (await place.conditions())["Ready"] == ("True", "AllRanksServing")


async def test_two_sizes_within_a_second_are_reached_one_after_the_other(
    place: Place, stub: EngineStub
) -> None:
    """dynamo PR#8216: two calls at once run into the store's timeouts."""
    await place.make_group()
    await place.look_until_quiet()
    want(place, 2)
    await place.look()
    await place.kubelet_acts()
    await place.look()
    want(place, 3)

    await place.look_until_quiet()

    assert stub.asked == [6, 8]
    assert len(await place.pods("joiner")) == 2


async def test_the_joiner_runs_before_the_engine_is_asked(place: Place, stub: EngineStub) -> None:
    """sgl-project/sglang#33111: an engine that waits for a joiner that is not coming."""
    await place.make_group()
    await place.look_until_quiet()
    want(place, 2)

    await place.live_for(timedelta(minutes=10))
    assert stub.asked == []
    assert len(await place.pods("joiner")) == 1

    await place.look_until_quiet()
    assert stub.asked == [6]


async def test_a_leader_without_the_routes_is_told_and_never_asked_to_grow(
    place: Place, stub: EngineStub
) -> None:
    """dynamo PR#12575: 404 means that the engine cannot do it, now or later."""
    await place.make_group(replicas=2)
    stub.routes_missing = True

    await place.live_for(timedelta(minutes=1), kubelet=True)

    assert stub.asked == []
    assert await place.pods("joiner") == []
    assert (await place.conditions())["Stalled"] == ("True", "NotElastic")
    assert len([e for e in await place.events() if e["type"] == "Warning"]) <= 2


async def test_growth_that_always_fails_is_tried_a_few_times_and_the_group_serves_on(
    place: Place, stub: EngineStub
) -> None:
    """dynamo PR#12991: a growth that fails wedges the engine, and is asked for again and again."""
    await place.make_group(replicas=2)
    stub.refuses_with = "Timed out waiting for ranks to join"

    await place.live_for(HOUR, kubelet=True)

    assert len(stub.asked) == 6
    assert (await place.conditions())["Available"] == ("True", "Serving")
    assert (await place.conditions())["Stalled"] == ("True", "JoinTimedOut")
    assert place.kube.writes["create pods"] == 1 + 6
    assert place.kube.writes["apply elasticepgroups/status"] <= 6 * 6 + 8
    assert len(await place.pods("leader")) == 1


async def test_a_growth_whose_joiner_can_never_fit_in_is_asked_for_once(
    place: Place, stub: EngineStub
) -> None:
    """sgl-project/sglang#39709: a rank out of range at every try."""
    await place.make_group(replicas=2)
    stub.refuses_with = "ValueError: rank out of valid range"

    await place.live_for(HOUR, kubelet=True)

    assert stub.asked == [6]
    assert (await place.conditions())["Stalled"] == ("True", "RankArithmetic")
    assert (await place.conditions())["Available"] == ("True", "Serving")
    assert await place.pods("joiner") == []
