"""What is reported: enough, true, and no more of it than there is news.

Each docstring names the public report of another operator that went wrong there.
"""

import json
from datetime import timedelta
from itertools import count
from typing import Any

from tests.reconcile.engine_stub import EngineStub
from tests.reconcile.place import NAMESPACE, Place

from elasticep.api import names
from elasticep.kube.port import GROUPS, PODS, SECRETS, SERVICES

HOUR = timedelta(hours=1)


async def test_a_group_at_rest_costs_no_write(place: Place, stub: EngineStub) -> None:
    """OLM PR#1816, falco-operator#356: a status that wakes its own writer."""
    await place.make_group(replicas=3)
    await place.look_until_quiet()
    assert (await place.conditions())["Ready"] == ("True", "AllRanksServing")
    place.kube.writes.clear()
    place.kube.requests.clear()

    await place.live_for(HOUR)

    assert not place.kube.writes
    assert place.kube.requests.total() <= 6 * (60 / 5)
    assert stub.asked == [6, 8]


async def test_a_status_that_somebody_has_edited_is_put_right(place: Place) -> None:
    """ai-dynamo/dynamo#10527: a count that has drifted keeps a group from being ready."""
    await place.make_group(replicas=2)
    await place.look_until_quiet()
    before = (await place.read())["status"]

    def falsify(manifest: dict[str, Any]) -> None:
        manifest["status"] |= {"readyReplicas": 0, "replicas": 9, "joiners": []}
        manifest["status"]["conditions"][0] |= {"status": "False", "reason": "Sabotage"}

    place.kube.change(GROUPS, NAMESPACE, "lite", falsify)
    await place.look()

    after = (await place.read())["status"]
    assert _without_times(after) == _without_times(before)


def _without_times(status: dict[str, Any]) -> dict[str, Any]:
    conditions = [{**c, "lastTransitionTime": ""} for c in status["conditions"]]
    return {**status, "conditions": conditions}


async def test_a_status_that_is_lost_is_found_out_again(place: Place, stub: EngineStub) -> None:
    """nolar/kopf#574: what was pruned from a status must not be needed to go on serving."""
    await place.make_group(replicas=2)
    await place.look_until_quiet()
    pods = {p["metadata"]["uid"] for p in await place.pods()}

    place.kube.change(GROUPS, NAMESPACE, "lite", lambda m: m.update(status={}))
    await place.look_until_quiet()

    assert (await place.conditions())["Ready"] == ("True", "AllRanksServing")
    assert {p["metadata"]["uid"] for p in await place.pods()} == pods
    assert stub.asked == [6]


async def test_what_webhooks_and_controllers_add_to_our_objects_is_no_difference(
    place: Place,
) -> None:
    """sgl-project/rbg#24: a mutating webhook makes an operator write for ever."""
    await place.make_group()
    await place.look_until_quiet()

    def mutate(manifest: dict[str, Any]) -> None:
        manifest["metadata"].setdefault("annotations", {})["mesh.example/injected"] = "yes"
        manifest["metadata"]["labels"]["team"] = "a"
        manifest["spec"] |= {"clusterIP": "10.96.0.7", "tolerations": [{"key": "gpu"}]}
        for port in manifest["spec"].get("ports", ()):
            port["nodePort"] = 30123

    place.kube.change(SERVICES, NAMESPACE, "lite", mutate)
    place.kube.change(PODS, NAMESPACE, (await place.pods())[0]["metadata"]["name"], mutate)
    place.kube.writes.clear()
    await place.live_for(HOUR)

    assert not place.kube.writes


async def test_a_service_that_points_elsewhere_is_mended(place: Place) -> None:
    """dask/dask-kubernetes#603: what is changed by hand stays broken."""
    await place.make_group()
    await place.look_until_quiet()
    right = (await place.read(SERVICES))["spec"]["selector"]

    place.kube.change(
        SERVICES, NAMESPACE, "lite", lambda m: m["spec"]["selector"].update({names.LABEL_ROLE: "x"})
    )
    await place.look()

    assert (await place.read(SERVICES))["spec"]["selector"] == right


async def test_events_tell_of_changes_and_not_of_words_that_vary(place: Place) -> None:
    """kuberay PR#2546: an event for every look at a pod that waits."""
    await place.make_group()
    await place.look()
    (pod,) = await place.pods()
    tries = count(1)

    def nowhere() -> None:
        words = f"0/{next(tries)} nodes are available: Insufficient nvidia.com/gpu"
        scheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        place.kube.change(
            PODS,
            NAMESPACE,
            pod["metadata"]["name"],
            lambda m: m["status"].update(conditions=[{**scheduled, "message": words}]),
        )

    await place.live_for(HOUR, each=nowhere)

    events = await place.events()
    assert next(tries) > 100
    assert [e["reason"] for e in events if e["type"] == "Warning"] == ["Unschedulable"]
    assert len(events) <= 4
    assert "failures" not in (await place.read())["status"]


async def test_an_event_of_many_words_in_any_script_is_one_that_the_api_server_takes(
    place: Place,
) -> None:
    """cluster-readiness-engine#310: the scheduler's words, however many, reach the user."""
    await place.make_group()
    await place.look()
    (pod,) = await place.pods()
    scheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    scheduled["message"] = "ノードがありません→" * 200
    name = pod["metadata"]["name"]
    place.kube.change(PODS, NAMESPACE, name, lambda m: m["status"].update(conditions=[scheduled]))

    await place.look()

    (warning,) = (e for e in await place.events() if e["type"] == "Warning")
    assert 900 < len(warning["note"].encode()) <= 1024
    assert "ノードがありません→" in warning["note"]


async def test_the_same_event_again_is_counted_and_not_made_anew(place: Place) -> None:
    """kuberay PR#2546, rook#15499: events pile up."""
    await place.make_group()
    await place.look_until_quiet()
    (leader,) = await place.pods()

    def ready(value: str) -> None:
        def turn(manifest: dict[str, Any]) -> None:
            manifest["status"]["conditions"] = [{"type": "Ready", "status": value}]

        place.kube.change(PODS, NAMESPACE, leader["metadata"]["name"], turn)

    for _ in range(20):
        ready("False")
        await place.look()
        ready("True")
        await place.look()

    events = await place.events()
    assert len(events) <= 8
    assert max(e.get("series", {}).get("count", 1) for e in events) >= 20


async def test_the_status_of_ten_pods_stays_small(place: Place, stub: EngineStub) -> None:
    """rook#15499, redpanda#12533: what is kept of a group must not grow without bound."""
    await place.make_group(replicas=10, maxEPSize=22)
    place.kube.writes.clear()

    await place.look_until_quiet(limit=200)

    group = await place.read()
    assert (group["status"]["replicas"], group["status"]["epSize"]["effective"]) == (10, 22)
    assert stub.asked == list(range(6, 23, 2))
    assert len(json.dumps(group["status"])) <= 8 * 1024
    assert place.kube.writes["apply elasticepgroups/status"] <= 9 * 6 + 6
    assert len(await place.events()) <= 9 * 2 + 6


async def test_a_key_that_is_deleted_and_made_again_ends_nothing_that_serves(
    place: Place, stub: EngineStub
) -> None:
    """Twingate/kubernetes-operator#904: a Secret that comes later, or goes meanwhile."""
    await place.make_group()
    await place.look_until_quiet()
    stub.admin_key = "the key of the first Secret"
    (before,) = await place.pods()
    old = await place.read(SECRETS, "lite-admin-key")

    place.kube.remove(SECRETS, NAMESPACE, "lite-admin-key")
    await place.live_for(timedelta(minutes=1))

    new = await place.read(SECRETS, "lite-admin-key")
    assert new["data"] != old["data"]
    (after,) = await place.pods()
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["metadata"]["labels"][names.LABEL_SERVING] == "true"
    assert (await place.conditions())["Stalled"] == ("True", "EngineUnauthorized")
    assert "delete the leader pod" in await place.message("Stalled")

    stub.admin_key = None
    place.kube.remove(PODS, NAMESPACE, after["metadata"]["name"])
    await place.live_for(timedelta(seconds=20))
    await place.look_until_quiet()

    assert (await place.conditions())["Ready"] == ("True", "AllRanksServing")


async def test_a_pod_deleted_by_hand_is_made_again_without_any_event(
    place: Place, stub: EngineStub
) -> None:
    """dask/dask-kubernetes#603, kubernetes-sigs/jobset#574."""
    await place.make_group()
    await place.look_until_quiet()
    (leader,) = await place.pods()

    place.kube.remove(PODS, NAMESPACE, leader["metadata"]["name"])
    await place.live_for(timedelta(minutes=1))
    await place.look_until_quiet()

    (again,) = await place.pods()
    assert again["metadata"]["name"] != leader["metadata"]["name"]
    assert (await place.conditions())["Ready"] == ("True", "AllRanksServing")
