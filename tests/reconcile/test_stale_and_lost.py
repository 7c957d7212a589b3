"""Writes that meet a newer object, answers that get lost, lists that lag.

Each docstring names the public report of another operator that went wrong there.
"""

from typing import Any

import pytest
from tests.kube.fake import FakeKube
from tests.reconcile.engine_stub import EngineStub
from tests.reconcile.place import LITE, NAMESPACE, Place, WatchedKube

from elasticep.kube.port import (
    GROUPS,
    PODS,
    SECRETS,
    SERVICES,
    ConflictError,
    Manifest,
    NotFoundError,
    Resource,
    UnavailableError,
)

CONFLICT = ConflictError(409, "Conflict", "the object has been modified")
LOST = UnavailableError(0, "Timeout", "no answer")


async def uids(place: Place) -> list[str]:
    return [pod["metadata"]["uid"] for pod in await place.pods()]


async def test_a_conflict_on_the_status_does_nothing_and_nobody_is_told(place: Place) -> None:
    """ai-dynamo/dynamo#14298, java-operator-sdk#1198, openshift/library-go PR#1658."""
    await place.make_group()
    place.refuse("apply", GROUPS, CONFLICT)

    with pytest.raises(ConflictError):
        await place.look()

    assert set(place.kube.writes) == {"create elasticepgroups", "apply elasticepgroups/status"}
    assert await place.events() == []

    await place.look()

    assert len(await place.pods("leader")) == 1
    assert (await place.conditions())["Stalled"] == ("False", "NotStalled")
    assert not any("modified" in event["note"] for event in await place.events())


async def test_a_spec_that_is_edited_during_a_look_is_acted_on_and_not_its_predecessor(
    place: Place,
) -> None:
    """cluster-api#9299, tailscale PR#16497: a status speaks of the spec that it was made from."""
    await place.make_group()

    def stop(manifest: dict[str, Any]) -> None:
        manifest["spec"]["replicas"] = 0

    place.kube.meddle = lambda: place.kube.change(GROUPS, NAMESPACE, "lite", stop)
    with pytest.raises(ConflictError):
        await place.look()
    assert await place.pods() == []

    await place.look()

    assert await place.pods() == []
    status = (await place.read())["status"]
    assert status["observedGeneration"] == 2
    assert (await place.conditions())["Ready"] == ("True", "Stopped")


async def test_nothing_is_made_for_a_group_that_is_deleted_during_a_look(place: Place) -> None:
    """kubernetes#56355, instaclustr/cassandra-operator#404: children of a deleted owner revive."""
    await place.make_group()
    place.kube.meddle = lambda: place.kube.remove(GROUPS, NAMESPACE, "lite")

    with pytest.raises(NotFoundError):
        await place.look()

    assert await place.look() is None
    for resource in (PODS, SECRETS, SERVICES):
        assert await place.kube.list(resource, namespace=NAMESPACE) == []


async def test_a_group_made_again_during_a_look_gets_nothing_of_its_predecessors(
    place: Place,
) -> None:
    """kubernetes-sigs/lws#732, volcano#2284: the same name again confuses the operator."""
    before = await place.make_group()
    after: dict[str, Any] = {}

    def again() -> None:
        place.kube.remove(GROUPS, NAMESPACE, "lite")
        after.update(place.kube._create(GROUPS, {**before, "metadata": _named(before)}))

    place.kube.meddle = again
    with pytest.raises(ConflictError):
        await place.look()
    await place.look()

    (pod,) = await place.pods()
    assert pod["metadata"]["ownerReferences"][0]["uid"] == after["metadata"]["uid"]


def _named(manifest: Manifest) -> dict[str, Any]:
    return {key: manifest["metadata"][key] for key in ("name", "namespace")}


@pytest.mark.parametrize("resource", [PODS, SECRETS], ids=lambda r: r.plural)
async def test_an_object_is_made_once_though_the_answer_was_lost(
    place: Place, resource: Resource
) -> None:
    """ray-project/kuberay#715, #704; ai-dynamo/grove#122."""
    await place.make_group()
    place.lose_answer("create", resource, LOST)

    with pytest.raises(UnavailableError):
        await place.look()
    made = await place.kube.list(resource, namespace=NAMESPACE)
    await place.look_until_quiet()

    after = await place.kube.list(resource, namespace=NAMESPACE)
    assert [o["metadata"]["uid"] for o in after] == [o["metadata"]["uid"] for o in made]
    assert len(await place.pods()) == 1
    assert (await place.conditions())["Ready"] == ("True", "AllRanksServing")


async def test_a_deletion_whose_answer_was_lost_is_counted_once(place: Place) -> None:
    """sgl-project/rbg#46: several deletions and restarts for one fault."""
    await place.make_group()
    await place.look_until_quiet()
    (leader,) = await place.pods("leader")
    place.kube.change(PODS, NAMESPACE, leader["metadata"]["name"], _evicted)
    place.lose_answer("delete", PODS, LOST)

    with pytest.raises(UnavailableError):
        await place.look()
    for _ in range(5):
        await place.look()

    status = (await place.read())["status"]
    assert (status["failures"]["reason"], status["failures"]["count"]) == ("Evicted", 1)
    assert status["incarnation"]["serial"] == 2


def _evicted(pod: dict[str, Any]) -> None:
    pod["status"] |= {"phase": "Failed", "reason": "Evicted", "message": "low on memory"}
    pod["status"] |= {"conditions": [], "containerStatuses": []}


async def test_a_status_whose_answer_was_lost_begins_no_second_operation(
    place: Place, stub: EngineStub
) -> None:
    """sgl-project/sglang#35376, #39834: an ambiguous request is never guessed about."""
    await place.make_group()
    await place.look_until_quiet()
    place.kube.change(GROUPS, NAMESPACE, "lite", lambda m: m["spec"].update(replicas=2))
    await place.look()
    place.start((await place.pods("joiner"))[0])
    place.lose_answer("apply", GROUPS, LOST)

    with pytest.raises(UnavailableError):
        await place.look()
    assert stub.asked == []
    await place.look_until_quiet()

    assert stub.asked == [6]
    assert (await place.conditions())["Ready"] == ("True", "AllRanksServing")


async def test_a_list_that_lags_makes_no_second_pod(place: Place) -> None:
    """k0sproject/k0smotron#1534, kuberay#715: six machines for one replica."""
    await place.make_group()
    await place.look()
    made = await uids(place)
    place.kube = Lagging.of(place.kube)

    for _ in range(6):
        await place.look()

    assert await uids(place) == made


class Lagging(WatchedKube):
    """An API server whose lists do not know of any pod yet."""

    @classmethod
    def of(cls, kube: FakeKube) -> "Lagging":
        lagging = cls()
        lagging._objects, lagging._versions = kube._objects, kube._versions
        return lagging

    async def list(
        self, resource: Resource, *, namespace: str | None = None, labels: str = ""
    ) -> list[dict[str, Any]]:
        found = await super().list(resource, namespace=namespace, labels=labels)
        return [] if resource == PODS else found


async def test_a_reconcile_of_a_group_that_was_never_there_does_nothing(place: Place) -> None:
    """dask/dask-kubernetes#603: an event of a pod may name a group that is long gone."""
    assert await place.look(LITE) is None
    assert not place.kube.writes
