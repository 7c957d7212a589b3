"""What is kept around the pods, as an API server stores it and as others change it."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.kube.api_server import kubectl
from tests.kube.sample_objects import group

from elasticep.api.models import GroupSpec
from elasticep.apply.executor import Executor
from elasticep.kube.port import GROUPS, SURROUNDINGS, Kube, Manifest
from elasticep.plan import objects
from elasticep.plan.actions import Action, ApplyObject, DeleteObject
from elasticep.plan.pods import Blueprint
from elasticep.world.key import Key
from testbed.controlplane import ControlPlane


async def intents(kube: Kube, namespace: str) -> dict[str, Manifest]:
    """What is kept around the pods of a new group, by kind."""
    owner = await kube.create(GROUPS, group(namespace))
    blueprint = Blueprint(
        group="lite",
        namespace=namespace,
        group_uid=owner["metadata"]["uid"],
        spec=GroupSpec.model_validate(owner["spec"]),
    )
    return {intent["kind"]: intent for intent, _ in objects.kept_objects(blueprint)}


async def carry_out(kube: Kube, namespace: str, *actions: Action) -> None:
    executor = Executor(kube=kube, count_pod=lambda _role: None)
    key = Key(namespace=namespace, name="lite")
    assert await executor.carry_out(actions, key=key, engines={}) == ()


async def standing(kube: Kube, intent: Manifest) -> dict[str, Any]:
    metadata = intent["metadata"]
    resource = SURROUNDINGS[intent["kind"]]
    return await kube.get(resource, metadata["namespace"], metadata["name"])


@pytest.mark.parametrize("kind", SURROUNDINGS)
async def test_what_was_applied_needs_no_second_apply(
    kube: Kube, namespace: str, kind: str
) -> None:
    """The API server's defaults are no differences, or we would write for ever."""
    intent = (await intents(kube, namespace))[kind]
    await carry_out(kube, namespace, ApplyObject(manifest=intent, why="there is none"))
    assert not objects.is_changed(intent, await standing(kube, intent))


STRANGERS = [{"key": "team", "operator": "DoesNotExist"}]
EVERYWHERE: Mapping[str, Any] = {}
CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("Service", {"selector": {"elasticep.dev/role": "joiner"}}),
    ("NetworkPolicy", {"podSelector": {"matchExpressions": STRANGERS}}),
    ("NetworkPolicy", {"ingress": [{"from": [{"namespaceSelector": EVERYWHERE}]}]}),
    ("NetworkPolicy", {"ingress": []}),
    ("NetworkPolicy", {"policyTypes": ["Egress"]}),
    ("NetworkPolicy", {"policyTypes": ["Ingress", "Egress"], "egress": [{}]}),
    ("PodDisruptionBudget", {"minAvailable": None, "maxUnavailable": 1}),
    ("PodDisruptionBudget", {"selector": {"matchExpressions": STRANGERS}}),
    ("PodDisruptionBudget", {"unhealthyPodEvictionPolicy": "AlwaysAllow"}),
]


@pytest.mark.parametrize(("kind", "spec"), CHANGES, ids=str)
async def test_what_somebody_changed_is_as_before_after_an_apply(
    plane: ControlPlane, real: Kube, namespace: str, kind: str, spec: dict[str, Any]
) -> None:
    intent = (await intents(real, namespace))[kind]
    mend = ApplyObject(manifest=intent, why="it was changed")
    await carry_out(real, namespace, mend)

    patch = json.dumps({"spec": spec})
    words = [kind, intent["metadata"]["name"], f"--namespace={namespace}", "--type=merge"]
    kubectl(plane, "patch", *words, f"--patch={patch}")
    assert objects.is_changed(intent, await standing(real, intent))

    await carry_out(real, namespace, mend)
    assert not objects.is_changed(intent, await standing(real, intent))


@pytest.mark.parametrize("kind", ["NetworkPolicy", "PodDisruptionBudget"])
async def test_what_is_not_wanted_any_more_goes_and_its_successor_stays(
    kube: Kube, namespace: str, kind: str
) -> None:
    intent = (await intents(kube, namespace))[kind]
    make = ApplyObject(manifest=intent, why="there is none")
    await carry_out(kube, namespace, make)
    old = (await standing(kube, intent))["metadata"]

    end = DeleteObject(kind=kind, name=old["name"], uid=old["uid"], why="it is not wanted")
    await carry_out(kube, namespace, end)
    assert await kube.list(SURROUNDINGS[kind], namespace=namespace) == []

    await carry_out(kube, namespace, make, end)
    assert (await standing(kube, intent))["metadata"]["uid"] != old["uid"]
