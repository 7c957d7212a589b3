"""What every `Kube` does: the client on a real API server, and the fake that stands in for it."""

import pytest
from tests.kube.sample_objects import OTHER_UID, group, lease, pod, secret, with_status

from elasticep.kube.port import (
    GROUPS,
    LEASES,
    PODS,
    SECRETS,
    AlreadyExistsError,
    ConflictError,
    InvalidError,
    Kube,
    NotFoundError,
)


async def test_what_is_created_is_read_back(kube: Kube, namespace: str) -> None:
    created = await kube.create(SECRETS, secret(namespace))
    assert created["metadata"]["uid"]
    assert created["data"] == {"key": "b25l"}
    assert await kube.get(SECRETS, namespace, "one") == created


async def test_a_name_is_taken_once(kube: Kube, namespace: str) -> None:
    await kube.create(SECRETS, secret(namespace))
    with pytest.raises(AlreadyExistsError) as refused:
        await kube.create(SECRETS, secret(namespace))
    assert (refused.value.code, refused.value.reason) == (409, "AlreadyExists")


async def test_what_is_not_there_is_not_found(kube: Kube, namespace: str) -> None:
    with pytest.raises(NotFoundError) as missing:
        await kube.get(SECRETS, namespace, "one")
    assert (missing.value.code, missing.value.reason) == (404, "NotFound")


async def test_an_answer_is_a_copy(kube: Kube, namespace: str) -> None:
    created = await kube.create(SECRETS, secret(namespace))
    created["data"]["key"] = "dHdv"
    assert (await kube.get(SECRETS, namespace, "one"))["data"] == {"key": "b25l"}


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("", ["blue", "plain", "red"]),
        ("colour=red", ["red"]),
        ("colour", ["blue", "red"]),
        ("colour=blue,size=big", ["blue"]),
        ("colour=red,size=big", []),
    ],
)
async def test_a_list_holds_what_the_labels_select(
    kube: Kube, namespace: str, selector: str, names: list[str]
) -> None:
    await kube.create(SECRETS, secret(namespace, "red", colour="red"))
    await kube.create(SECRETS, secret(namespace, "blue", colour="blue", size="big"))
    await kube.create(SECRETS, secret(namespace, "plain"))
    found = await kube.list(SECRETS, namespace=namespace, labels=selector)
    assert [item["metadata"]["name"] for item in found] == names


async def test_a_list_without_a_namespace_holds_all(kube: Kube, namespace: str) -> None:
    await kube.create(SECRETS, secret(namespace, "mine", test=namespace))
    found = await kube.list(SECRETS, labels=f"test={namespace}")
    assert [item["metadata"]["name"] for item in found] == ["mine"]
    assert await kube.list(SECRETS, namespace="elsewhere", labels=f"test={namespace}") == []


async def test_a_replacement_is_for_the_version_that_was_read(kube: Kube, namespace: str) -> None:
    first = await kube.create(LEASES, lease(namespace))
    second = await kube.replace(LEASES, {**first, "spec": {**first["spec"], "holderIdentity": "b"}})
    assert second["metadata"]["resourceVersion"] != first["metadata"]["resourceVersion"]
    with pytest.raises(ConflictError) as late:
        await kube.replace(LEASES, {**first, "spec": {**first["spec"], "holderIdentity": "c"}})
    assert (late.value.code, late.value.reason) == (409, "Conflict")
    assert (await kube.get(LEASES, namespace, "one"))["spec"]["holderIdentity"] == "b"


async def test_a_replacement_without_a_version_is_refused(kube: Kube, namespace: str) -> None:
    await kube.create(GROUPS, group(namespace))
    with pytest.raises(InvalidError):
        await kube.replace(GROUPS, group(namespace))


async def test_a_replacement_of_nothing_is_refused(kube: Kube, namespace: str) -> None:
    created = await kube.create(GROUPS, group(namespace))
    await kube.delete(GROUPS, namespace, "lite", uid=created["metadata"]["uid"])
    with pytest.raises(NotFoundError):
        await kube.replace(GROUPS, created)


async def test_a_deletion_hits_that_very_object(kube: Kube, namespace: str) -> None:
    created = await kube.create(SECRETS, secret(namespace))
    await kube.delete(SECRETS, namespace, "one", uid=OTHER_UID)
    assert await kube.get(SECRETS, namespace, "one") == created
    await kube.delete(SECRETS, namespace, "one", uid=created["metadata"]["uid"])
    assert await kube.list(SECRETS, namespace=namespace) == []


async def test_a_deletion_of_nothing_is_no_error(kube: Kube, namespace: str) -> None:
    await kube.delete(SECRETS, namespace, "one", uid=OTHER_UID)


async def test_a_pod_on_a_node_waits_for_its_kubelet(kube: Kube, namespace: str) -> None:
    created = await kube.create(PODS, pod(namespace, nodeName="node-1"))
    await kube.delete(PODS, namespace, "one", uid=created["metadata"]["uid"])
    leaving = await kube.get(PODS, namespace, "one")
    assert leaving["metadata"]["deletionTimestamp"]
    assert leaving["metadata"]["deletionGracePeriodSeconds"] == 30


async def test_a_pod_may_be_given_less_time_than_it_asks_for(kube: Kube, namespace: str) -> None:
    created = await kube.create(PODS, pod(namespace, nodeName="node-1"))
    uid = created["metadata"]["uid"]
    await kube.delete(PODS, namespace, "one", uid=uid, grace_seconds=5)
    leaving = await kube.get(PODS, namespace, "one")
    assert leaving["metadata"]["deletionGracePeriodSeconds"] == 5


async def test_a_pod_on_no_node_goes_at_once(kube: Kube, namespace: str) -> None:
    created = await kube.create(PODS, pod(namespace))
    await kube.delete(PODS, namespace, "one", uid=created["metadata"]["uid"])
    assert await kube.list(PODS, namespace=namespace) == []


async def test_a_finalizer_is_waited_for(kube: Kube, namespace: str) -> None:
    held = secret(namespace)
    held["metadata"]["finalizers"] = ["example.com/held"]
    created = await kube.create(SECRETS, held)
    await kube.delete(SECRETS, namespace, "one", uid=created["metadata"]["uid"])
    leaving = await kube.get(SECRETS, namespace, "one")
    assert leaving["metadata"]["deletionTimestamp"]


async def test_a_new_pod_is_pending(kube: Kube, namespace: str) -> None:
    created = await kube.create(PODS, {**pod(namespace), "status": {"phase": "Running"}})
    assert created["status"]["phase"] == "Pending"


async def test_status_is_written_apart_from_the_rest(kube: Kube, namespace: str) -> None:
    created = await kube.create(GROUPS, {**group(namespace), "status": {"replicas": 7}})
    assert "status" not in created

    body = {**with_status(created, replicas=1), "spec": {"replicas": 3}}
    reported = await kube.apply(GROUPS, body, manager="elasticep-status", subresource="status")
    assert reported["status"] == {"replicas": 1}
    assert reported["spec"] == created["spec"]


async def test_the_generation_counts_changes_of_the_spec(kube: Kube, namespace: str) -> None:
    created = await kube.create(GROUPS, group(namespace))
    assert created["metadata"]["generation"] == 1
    body = with_status(created, replicas=1)
    reported = await kube.apply(GROUPS, body, manager="elasticep-status", subresource="status")
    assert reported["metadata"]["generation"] == 1
    changed = await kube.replace(GROUPS, {**reported, "spec": group(namespace, replicas=2)["spec"]})
    assert changed["metadata"]["generation"] == 2
    assert changed["status"] == {"replicas": 1}


async def test_the_log_of_a_pod_that_is_not_there(kube: Kube, namespace: str) -> None:
    with pytest.raises(NotFoundError):
        await kube.log_tail(namespace, "one", "engine", previous=True)
