"""Server-side apply, on a real API server and on the fake."""

import pytest
from tests.kube.sample_objects import OTHER_UID, group, only, pod, service, with_status

from elasticep.kube.port import (
    GROUPS,
    PODS,
    SERVICES,
    ConflictError,
    InvalidError,
    Kube,
    NotFoundError,
)


async def test_an_apply_that_changes_nothing_writes_nothing(kube: Kube, namespace: str) -> None:
    created = await kube.create(GROUPS, group(namespace))
    body = with_status(created, replicas=1)
    first = await kube.apply(GROUPS, body, manager="elasticep-status", subresource="status")
    second = await kube.apply(GROUPS, body, manager="elasticep-status", subresource="status")
    assert second["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


async def test_an_apply_for_an_older_version_is_a_conflict(kube: Kube, namespace: str) -> None:
    created = await kube.create(GROUPS, group(namespace))
    old = created["metadata"]["resourceVersion"]
    body = with_status(created, replicas=1, resourceVersion=old)
    await kube.apply(GROUPS, body, manager="elasticep-status", subresource="status")
    late = with_status(created, replicas=2, resourceVersion=old)
    with pytest.raises(ConflictError):
        await kube.apply(GROUPS, late, manager="elasticep-status", subresource="status")


async def test_an_apply_for_another_object_is_refused(kube: Kube, namespace: str) -> None:
    """The API server takes a wrong UID for an attempt to change it, which is no conflict to it."""
    created = await kube.create(PODS, pod(namespace))
    with pytest.raises(InvalidError):
        await kube.apply(PODS, only(created, uid=OTHER_UID), manager="elasticep")


async def test_a_status_is_for_a_version_and_not_for_a_uid(kube: Kube, namespace: str) -> None:
    """A custom resource's status is applied with all other metadata put aside.

    So a report about a group that was deleted and made again meanwhile needs the version.
    """
    created = await kube.create(GROUPS, group(namespace))
    body = with_status(created, replicas=1, uid=OTHER_UID)
    taken = await kube.apply(GROUPS, body, manager="elasticep-status", subresource="status")
    assert taken["status"] == {"replicas": 1}
    assert taken["metadata"]["uid"] == created["metadata"]["uid"]

    body = with_status(created, replicas=2, uid=OTHER_UID, resourceVersion="999999")
    with pytest.raises(ConflictError):
        await kube.apply(GROUPS, body, manager="elasticep-status", subresource="status")


async def test_an_apply_for_an_object_that_is_gone_makes_none(kube: Kube, namespace: str) -> None:
    with pytest.raises(ConflictError):
        await kube.apply(PODS, only(pod(namespace), uid=OTHER_UID), manager="elasticep")
    assert await kube.list(PODS, namespace=namespace) == []


async def test_the_status_of_nothing_cannot_be_applied(kube: Kube, namespace: str) -> None:
    body = with_status(group(namespace), replicas=1)
    with pytest.raises(NotFoundError):
        await kube.apply(GROUPS, body, manager="elasticep-status", subresource="status")


async def test_an_apply_makes_what_is_not_there(kube: Kube, namespace: str) -> None:
    made = await kube.apply(SERVICES, service(namespace), manager="elasticep")
    assert made["spec"]["ports"][0]["port"] == 80
    assert (await kube.get(SERVICES, namespace, "one"))["metadata"] == made["metadata"]


async def test_an_apply_adds_to_what_others_have_set(kube: Kube, namespace: str) -> None:
    created = await kube.create(PODS, pod(namespace))
    body = only(created, uid=created["metadata"]["uid"], labels={"serving": "true"})
    labelled = await kube.apply(PODS, body, manager="elasticep")
    assert labelled["metadata"]["labels"] == {"colour": "red", "serving": "true"}


async def test_an_apply_takes_over_what_others_have_set(kube: Kube, namespace: str) -> None:
    created = await kube.create(PODS, pod(namespace))
    await kube.apply(PODS, only(created, labels={"colour": "blue"}), manager="elasticep")
    taken = await kube.apply(PODS, only(created, labels={"colour": "green"}), manager="other")
    assert taken["metadata"]["labels"] == {"colour": "green"}


async def test_what_an_apply_leaves_out_it_gives_up(kube: Kube, namespace: str) -> None:
    created = await kube.create(PODS, pod(namespace))
    both = only(created, labels={"serving": "true", "colour": "red"})
    await kube.apply(PODS, both, manager="elasticep")
    less = await kube.apply(PODS, only(created), manager="elasticep")
    assert less["metadata"]["labels"] == {"colour": "red"}, "its creator still wants that one"


async def test_what_another_manager_also_applies_stays(kube: Kube, namespace: str) -> None:
    created = await kube.create(PODS, pod(namespace))
    await kube.apply(PODS, only(created, labels={"a": "1"}), manager="elasticep")
    await kube.apply(PODS, only(created, labels={"a": "1"}), manager="other")
    left = await kube.apply(PODS, only(created), manager="elasticep")
    assert left["metadata"]["labels"] == {"colour": "red", "a": "1"}
