"""What is kept around the pods follows the spec, whatever others do to it."""

from datetime import timedelta
from typing import Any

import pytest
from tests.reconcile.place import NAMESPACE, Place

from elasticep.kube.port import (
    DISRUPTION_BUDGETS,
    GROUPS,
    NETWORK_POLICIES,
    ForbiddenError,
    NotFoundError,
    Resource,
)

NAME = "lite-engine"
TURNED_ON = {"networkPolicy": {"enabled": True}, "disruptionBudget": {"enabled": True}}
TURNED_OFF = {"networkPolicy": {"enabled": False}, "disruptionBudget": {"enabled": False}}
BOTH = pytest.mark.parametrize(
    "resource", [NETWORK_POLICIES, DISRUPTION_BUDGETS], ids=lambda resource: resource.plural
)
RESYNC = timedelta(minutes=6)


async def is_there(place: Place, resource: Resource) -> bool:
    try:
        await place.read(resource, NAME)
    except NotFoundError:
        return False
    return True


def edit(place: Place, spec: dict[str, Any]) -> None:
    place.kube.change(GROUPS, NAMESPACE, "lite", lambda m: m["spec"].update(spec))


@BOTH
async def test_it_comes_and_goes_with_its_field_and_no_pod_is_touched(
    place: Place, resource: Resource
) -> None:
    await place.make_group(**TURNED_OFF)
    await place.look_until_quiet()
    assert not await is_there(place, resource)
    before = {p["metadata"]["uid"] for p in await place.pods()}

    edit(place, TURNED_ON)
    await place.look_until_quiet()
    made = await place.read(resource, NAME)
    (owner,) = made["metadata"]["ownerReferences"]
    assert owner["uid"] == (await place.read())["metadata"]["uid"]
    assert owner["controller"]
    assert owner["blockOwnerDeletion"]

    edit(place, TURNED_OFF)
    await place.look_until_quiet()
    assert not await is_there(place, resource)
    assert {p["metadata"]["uid"] for p in await place.pods()} == before
    assert (await place.conditions())["Ready"] == ("True", "AllRanksServing")


@BOTH
async def test_what_somebody_deletes_is_back_by_the_next_resync(
    place: Place, resource: Resource
) -> None:
    await place.make_group(**TURNED_ON)
    await place.look_until_quiet()
    place.kube.remove(resource, NAMESPACE, NAME)

    await place.live_for(RESYNC)

    assert await is_there(place, resource)


@BOTH
async def test_what_somebody_changes_is_right_by_the_next_resync(
    place: Place, resource: Resource
) -> None:
    await place.make_group(**TURNED_ON)
    await place.look_until_quiet()
    right = (await place.read(resource, NAME))["spec"]

    def open_up(manifest: dict[str, Any]) -> None:
        manifest["spec"] |= {"ingress": [{}], "minAvailable": 0}

    place.kube.change(resource, NAMESPACE, NAME, open_up)
    await place.live_for(RESYNC)

    mended = (await place.read(resource, NAME))["spec"]
    assert {field: mended[field] for field in right} == right


@BOTH
async def test_somebody_elses_is_left_alone_when_none_is_wanted(
    place: Place, resource: Resource
) -> None:
    foreign = {"kind": "Any", "metadata": {"namespace": NAMESPACE, "name": NAME, "labels": {}}}
    made = await place.kube.create(resource, foreign)
    await place.make_group(**TURNED_OFF)
    await place.look_until_quiet()

    assert await place.read(resource, NAME) == made
    assert (await place.conditions())["Ready"] == ("True", "AllRanksServing")


async def test_no_pod_is_made_while_the_policy_is_refused(place: Place) -> None:
    """An operator whose role is older than itself must not start engines without a fence."""
    await place.make_group()
    error = ForbiddenError(403, "Forbidden", "networkpolicies is forbidden: User cannot patch")
    place.refuse("apply", NETWORK_POLICIES, error, times=10**6)

    await place.live_for(timedelta(hours=1))

    assert await place.pods() == []
    assert (await place.conditions())["Ready"] == ("False", "Forbidden")
    assert "NetworkPolicy lite-engine" in await place.message("Ready")


async def test_a_deletion_that_is_refused_is_told(place: Place) -> None:
    await place.make_group()
    await place.look_until_quiet()
    error = ForbiddenError(403, "Forbidden", "networkpolicies is forbidden: User cannot delete")
    place.refuse("delete", NETWORK_POLICIES, error)
    edit(place, TURNED_OFF)

    await place.look()

    assert "NetworkPolicy lite-engine" in await place.message("Ready")
    await place.live_for(timedelta(minutes=1))
    assert not await is_there(place, NETWORK_POLICIES)
    assert (await place.conditions())["Ready"] == ("True", "AllRanksServing")


async def test_no_pod_is_lost_while_the_policy_is_refused(place: Place) -> None:
    await place.make_group()
    await place.look_until_quiet()
    place.kube.remove(NETWORK_POLICIES, NAMESPACE, NAME)
    error = ForbiddenError(403, "Forbidden", "networkpolicies is forbidden: User cannot patch")
    place.refuse("apply", NETWORK_POLICIES, error, times=10**6)
    before = await place.pods()

    await place.live_for(timedelta(hours=1))

    assert await place.pods() == before
