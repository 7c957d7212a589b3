"""Objects of somebody else under our names or our labels, and what is left of a predecessor.

Each docstring names the public report of another operator that went wrong there.
"""

from datetime import timedelta
from typing import Any

import pytest
from tests.kube.sample_objects import pod
from tests.reconcile.engine_stub import EngineStub
from tests.reconcile.place import LITE, NAMESPACE, NOON, Place

from elasticep.api import names
from elasticep.kube.port import (
    GROUPS,
    NETWORK_POLICIES,
    PODS,
    SECRETS,
    SERVICES,
    SURROUNDINGS,
)
from elasticep.world.key import Key

OTHER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "other-uid"}


async def leader_name(place: Place) -> str:
    group = await place.read()
    return names.leader_pod("lite", names.incarnation_id(group["metadata"]["uid"], 1))


async def test_somebody_elses_pod_under_the_leaders_name_is_named_and_tried_less_and_less(
    place: Place,
) -> None:
    """sgl-project/rbg keps/inactive-pod-handling: a taken name blocks creation without a word."""
    await place.make_group()
    squatter = pod(NAMESPACE, await leader_name(place))
    await place.kube.create(PODS, squatter)
    place.kube.writes.clear()

    await place.look()

    assert (await place.conditions())["Ready"] == ("False", "NameConflict")
    assert squatter["metadata"]["name"] in await place.message("Ready")

    await place.live_for(timedelta(hours=1))

    assert (await place.conditions())["Stalled"] == ("True", "NameConflict")
    assert "kubectl elasticep resume lite" in await place.message("Stalled")
    assert place.kube.writes["create pods"] <= 6
    (left,) = await place.pods()
    assert left["spec"] == squatter["spec"]
    assert left["metadata"]["labels"] == squatter["metadata"]["labels"]


async def test_the_leader_is_made_once_its_name_is_free(place: Place) -> None:
    """sgl-project/rbg keps/inactive-pod-handling."""
    await place.make_group()
    name = await leader_name(place)
    await place.kube.create(PODS, pod(NAMESPACE, name))
    await place.look()

    place.kube.remove(PODS, NAMESPACE, name)
    await place.live_for(timedelta(seconds=30))
    await place.look_until_quiet()

    assert (await place.conditions())["Ready"] == ("True", "AllRanksServing")


async def test_a_pod_of_ours_that_lost_its_labels_is_named_when_it_is_in_the_way(
    place: Place,
) -> None:
    """kubernetes-sigs/jobset#574: a pod that is taken out of its group by hand."""
    await place.make_group()
    await place.look()
    place.edit(PODS, await leader_name(place), labels={"debug": "yes"})

    await place.look()

    assert (await place.conditions())["Ready"] == ("False", "NameConflict")


async def test_a_pod_with_our_labels_and_another_owner_is_never_touched(place: Place) -> None:
    """kubernetes-sigs/lws#236: `lws` and `lws-1` take each other's pods for their own."""
    await place.make_group()
    labels = {
        **names.common_labels("lite"),
        names.LABEL_ROLE: names.LEADER,
        names.LABEL_INCARNATION: "stranger",
        names.LABEL_SERVING: "true",
    }
    for owners in ([], [{**OTHER, "controller": True}]):
        foreign = pod(NAMESPACE, f"foreign-{len(owners)}")
        foreign["metadata"] |= {"labels": labels, "ownerReferences": owners}
        foreign["metadata"]["annotations"] = {names.ANNOTATION_SERIAL: "99"}
        await place.kube.create(PODS, foreign)
    before = [p for p in await place.pods() if p["metadata"]["name"].startswith("foreign")]

    await place.look_until_quiet()
    place.kube.change(GROUPS, NAMESPACE, "lite", lambda m: m["spec"].update(replicas=0))
    await place.look()

    after = [p for p in await place.pods() if p["metadata"]["name"].startswith("foreign")]
    assert [_but_status(p) for p in after] == [_but_status(p) for p in before]
    assert (await place.read())["status"]["incarnation"]["serial"] < 99


def _but_status(manifest: dict[str, Any]) -> dict[str, Any]:
    metadata = {k: v for k, v in manifest["metadata"].items() if k != "resourceVersion"}
    return {"metadata": metadata, "containers": manifest["spec"]["containers"]}


async def test_a_pod_that_took_a_dead_ones_name_during_a_look_is_not_deleted(place: Place) -> None:
    """kubernetes-sigs/lws#804, PR#805, dynamo PR#13180: a match by name hits the wrong pod."""
    await place.make_group()
    await place.look_until_quiet()
    (leader,) = await place.pods()
    name = leader["metadata"]["name"]
    place.kube.change(PODS, NAMESPACE, name, lambda m: m["status"].update(phase="Failed"))

    def another() -> None:
        place.kube.remove(PODS, NAMESPACE, name)
        place.kube._create(PODS, pod(NAMESPACE, name))

    place.kube.meddle = another
    await place.look()

    assert place.kube.writes["delete pods"] == 1
    (left,) = await place.pods()
    assert left["metadata"]["uid"] != leader["metadata"]["uid"]
    assert "deletionTimestamp" not in left["metadata"]


async def test_a_group_that_is_being_deleted_gets_nothing_new(place: Place) -> None:
    """kubernetes#56355, ray#21684: pods come back while the garbage collector ends them."""
    await place.make_group()
    await place.look_until_quiet()
    place.edit(
        GROUPS,
        "lite",
        deletionTimestamp="2026-01-01T12:00:00Z",
        finalizers=["foregroundDeletion"],
    )
    place.kube.remove(PODS, NAMESPACE, await leader_name(place))
    place.kube.remove(SERVICES, NAMESPACE, "lite")
    place.kube.writes.clear()

    await place.live_for(timedelta(hours=1))

    assert not place.kube.writes


@pytest.mark.parametrize(
    "what", ["Service lite", "Secret lite-admin-key", "NetworkPolicy lite-engine"]
)
async def test_somebody_elses_object_stops_the_group_until_it_is_gone(
    place: Place, what: str
) -> None:
    """kubernetes-sigs/lws#236; no event tells of the end of such an object."""
    await place.make_group()
    kind, name = what.split()
    resource = {**SURROUNDINGS, "Secret": SECRETS}[kind]
    await place.kube.create(
        resource,
        {"kind": kind, "metadata": {"namespace": NAMESPACE, "name": name, "labels": {}}},
    )
    place.kube.writes.clear()

    await place.live_for(timedelta(minutes=10))

    assert (await place.conditions())["Stalled"] == ("True", "NameConflict")
    assert what in await place.message("Stalled")
    assert set(place.kube.writes) == {"apply elasticepgroups/status", "create events"}
    assert place.kube.writes["apply elasticepgroups/status"] == 1

    place.kube.remove(resource, NAMESPACE, name)
    await place.live_for(timedelta(seconds=16))

    assert len(await place.pods("leader")) == 1


async def test_what_a_deleted_group_of_the_same_name_has_left_is_waited_for(
    place: Place, stub: EngineStub
) -> None:
    """kubernetes-sigs/lws#732, volcano#2284: delete and create again within a second."""
    await place.make_group()
    await place.look_until_quiet()
    place.kube.remove(GROUPS, NAMESPACE, "lite")
    await place.make_group()

    again = await place.look()

    assert (await place.conditions())["Ready"] == ("False", "WaitingForOldObjects")
    assert (await place.conditions())["Stalled"] == ("False", "NotStalled")
    assert again is not None
    assert again <= timedelta(seconds=1)
    assert not any(event["type"] == "Warning" for event in await place.events())

    for resource in (PODS, SECRETS, *SURROUNDINGS.values()):
        for left in await place.kube.list(resource, namespace=NAMESPACE):
            place.kube.remove(resource, NAMESPACE, left["metadata"]["name"])
    await place.look_until_quiet()

    assert (await place.conditions())["Ready"] == ("True", "AllRanksServing")


async def test_two_groups_whose_names_begin_alike_keep_apart(place: Place) -> None:
    """kubernetes-sigs/lws#236, ai-dynamo/dynamo#8566."""
    twin = Key(namespace=NAMESPACE, name="lite-1")
    await place.make_group()
    await place.make_group(twin.name)
    for key in (LITE, twin, LITE, twin):
        await place.look(key)

    owners = {p["metadata"]["ownerReferences"][0]["uid"] for p in await place.pods()}
    assert len(owners) == len(await place.pods()) == 2
    for name in ("lite", "lite-1"):
        assert (await place.conditions(name))["Ready"] == ("False", "PodPending")


async def test_only_what_is_ours_is_ever_written(place: Place) -> None:
    """rbg#460, kubernetes PR#79035, dynamo#12080, controller-runtime#1311, remove-empty-ns#5.

    Never spec, never the kubelet's part of a pod, never a finalizer or an annotation on a group.
    """
    made = await place.make_group(replicas=3)
    await place.look_until_quiet()

    assert set(place.kube.writes) == {
        "create elasticepgroups",
        "create secrets",
        "create pods",
        "create events",
        "apply services",
        "apply networkpolicies",
        "apply pods",
        "apply elasticepgroups/status",
    }
    group = await place.read()
    assert group["spec"] == made["spec"]
    assert group["metadata"]["generation"] == 1
    assert group["metadata"].keys() == made["metadata"].keys()
    for resource in (PODS, SERVICES, SECRETS, NETWORK_POLICIES):
        found = await place.kube.list(resource, namespace=NAMESPACE)
        assert found
        assert not any("finalizers" in each["metadata"] for each in found)
    assert place.now == NOON
