"""What is kept around the pods, and that it is not written without need."""

from dataclasses import replace
from typing import Any

import pytest
from tests.plan.world import UID, engine, group, leader, snapshot, spec, surrounded

from elasticep.plan import objects
from elasticep.plan.actions import Action, ApplyObject, DeleteObject
from elasticep.plan.planner import plan
from elasticep.plan.view import View
from elasticep.world.snapshot import Existing, Snapshot

POLICY, BUDGET = "NetworkPolicy", "PodDisruptionBudget"
BUDGETED = {"disruptionBudget": {"enabled": True}}
OPEN = {"networkPolicy": {"enabled": False}}


def serving(**wanted: Any) -> Snapshot:
    """A leader that serves alone, as it is asked to, with everything around it."""
    return surrounded(
        snapshot(group=group(spec(replicas=1, **wanted)), pods=(leader(),), engine=engine())
    )


def standing(world: Snapshot, kind: str, *, owner: str = UID, **metadata: Any) -> Snapshot:
    """The same world with an object of that kind, whether or not it is wanted."""
    view = View.of(world, spec())
    (manifest,) = (m for m, _ in objects.kept_objects(view.blueprint) if m["kind"] == kind)
    manifest["metadata"] |= {"uid": f"{kind}-uid", **metadata}
    existing = Existing(owner_uid=owner, content=manifest)
    return replace(world, surroundings={**world.surroundings, kind: existing})


def without(world: Snapshot, kind: str) -> Snapshot:
    """The same world after somebody deleted it."""
    return replace(world, surroundings={k: v for k, v in world.surroundings.items() if k != kind})


def changed(world: Snapshot, kind: str, **fields: Any) -> Snapshot:
    """The same world after somebody wrote these fields of its spec."""
    existing = world.surroundings[kind]
    content = {**existing.content, "spec": {**existing.content["spec"], **fields}}
    after = replace(existing, content=content)
    return replace(world, surroundings={**world.surroundings, kind: after})


def kinds(actions: tuple[Action, ...]) -> list[tuple[str, str]]:
    return [
        (type(action).__name__, action.manifest["kind"])
        if isinstance(action, ApplyObject)
        else (type(action).__name__, getattr(action, "kind", ""))
        for action in actions
    ]


@pytest.mark.parametrize("wanted", [{}, BUDGETED, OPEN], ids=str)
def test_a_group_with_all_that_it_wants_around_it_is_left_alone(wanted: dict[str, Any]) -> None:
    assert plan(serving(**wanted)).actions == ()


def test_a_new_group_is_fenced_before_its_first_pod_is_there() -> None:
    actions = kinds(plan(snapshot()).actions)
    assert actions.index(("ApplyObject", POLICY)) < actions.index(("CreatePod", ""))
    assert ("ApplyObject", BUDGET) not in actions


@pytest.mark.parametrize(
    ("wanted", "kind"), [({}, "Service"), ({}, POLICY), (BUDGETED, BUDGET)], ids=str
)
def test_what_is_missing_is_made_again(wanted: dict[str, Any], kind: str) -> None:
    world = without(serving(**wanted), kind)
    (action,) = plan(world).actions
    assert isinstance(action, ApplyObject)
    assert action.manifest["kind"] == kind
    assert "no " + kind in action.why


OWN_PODS = {"elasticep.dev/group-name": "lite", "app.kubernetes.io/managed-by": "elasticep"}


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        pytest.param(
            POLICY,
            {"podSelector": {"matchLabels": {**OWN_PODS, "a": "b"}}},
            id="a policy over fewer pods",
        ),
        pytest.param(
            POLICY,
            {
                "ingress": [
                    {"from": [{"podSelector": {"matchLabels": OWN_PODS}, "namespaceSelector": {}}]},
                    {"ports": [{"port": "http", "protocol": "TCP"}]},
                ]
            },
            id="a policy that lets pods of other namespaces in",
        ),
        pytest.param(POLICY, {"ingress": [{}]}, id="a policy that lets everybody in"),
        pytest.param(POLICY, {"policyTypes": ["Ingress", "Egress"]}, id="a policy for the way out"),
        pytest.param(BUDGET, {"minAvailable": 1}, id="a budget that lets pods go"),
        pytest.param(
            BUDGET,
            {"selector": {"matchLabels": {**OWN_PODS, "a": "b"}}},
            id="a budget over fewer pods",
        ),
        pytest.param(
            BUDGET, {"unhealthyPodEvictionPolicy": "AlwaysAllow"}, id="a budget for Ready pods only"
        ),
    ],
)
def test_what_somebody_changed_is_mended(kind: str, fields: dict[str, Any]) -> None:
    world = changed(serving(**BUDGETED), kind, **fields)
    (action,) = plan(world).actions
    assert isinstance(action, ApplyObject)
    right = serving(**BUDGETED).surroundings[kind].content
    assert action.manifest == right


def test_what_others_add_beside_our_fields_is_none_of_ours() -> None:
    world = serving(**BUDGETED)
    noted = {
        kind: replace(
            existing,
            content={
                **existing.content,
                "metadata": {
                    **existing.content["metadata"],
                    "annotations": {"team": "a"},
                    "labels": {**existing.content["metadata"]["labels"], "team": "a"},
                },
                "status": {"conditions": []},
            },
        )
        for kind, existing in world.surroundings.items()
    }
    assert plan(replace(world, surroundings=noted)).actions == ()


@pytest.mark.parametrize(("wanted", "kind"), [(OPEN, POLICY), ({}, BUDGET)], ids=str)
def test_what_is_not_wanted_any_more_is_deleted(wanted: dict[str, Any], kind: str) -> None:
    (action,) = plan(standing(serving(**wanted), kind)).actions
    assert isinstance(action, DeleteObject)
    assert (action.kind, action.name, action.uid) == (kind, "lite-engine", f"{kind}-uid")


@pytest.mark.parametrize("owner", ["", "another-group-uid"])
def test_somebody_elses_object_under_an_unneeded_name_is_left_alone(owner: str) -> None:
    world = standing(serving(**OPEN), POLICY, owner=owner)
    assert plan(world).actions == ()
    assert plan(world).status == plan(serving(**OPEN)).status


def test_what_is_on_its_way_out_is_not_deleted_again() -> None:
    leaving = standing(serving(**OPEN), POLICY, deletionTimestamp="2026-01-01T12:00:00Z")
    assert plan(leaving).actions == ()


@pytest.mark.parametrize(("wanted", "kind"), [({}, POLICY), (BUDGETED, BUDGET)], ids=str)
def test_somebody_elses_object_under_a_needed_name_stops_the_group(
    wanted: dict[str, Any], kind: str
) -> None:
    planned = plan(standing(serving(**wanted), kind, owner="another", ownerReferences=[]))
    assert planned.actions == ()
    (stalled,) = (c for c in planned.status.conditions if c.type == "Stalled")
    assert stalled.reason == "NameConflict"
    assert f"{kind} lite-engine exists" in stalled.message


def test_a_paused_group_is_left_as_it_is() -> None:
    world = standing(serving(paused=True, **OPEN), POLICY)
    assert plan(world).actions == ()


def test_policy_and_budget_are_about_the_groups_own_pods_only() -> None:
    """kubernetes-sigs/lws#236: groups `a` and `a-1`; and pods that merely have a label alike."""
    world = serving(**BUDGETED)
    policy = world.surroundings[POLICY].content["spec"]
    budget = world.surroundings[BUDGET].content["spec"]
    assert policy["podSelector"] == budget["selector"] == {"matchLabels": OWN_PODS}
    assert policy["ingress"] == [
        {"from": [{"podSelector": {"matchLabels": OWN_PODS}}]},
        {"ports": [{"port": "http", "protocol": "TCP"}]},
    ]
    assert policy["policyTypes"] == ["Ingress"], "the way out is free"


def test_the_open_port_follows_each_pod_while_another_one_is_rolled_out() -> None:
    """By its name: what serves on the old port stays open until it ends."""
    before, after = (
        serving(engine={"image": "lmsysorg/sglang:v0.5.19", "port": port})
        for port in (30000, 31000)
    )
    assert before.surroundings[POLICY].content == after.surroundings[POLICY].content
