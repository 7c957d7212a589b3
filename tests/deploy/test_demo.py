"""What the demo shows of a group, and the sums that it does."""

import pytest
from demo.picture import changes, picture
from demo.scene import EventView, PodView, Scene, of_group, read_scene
from demo.timing import Joining, joinings, median_added
from rich.console import Console

GROUP = {
    "metadata": {"generation": 2},
    "status": {
        "observedGeneration": 2,
        "epSize": {"desired": 8, "effective": 4, "pending": 6},
        "conditions": [
            {"type": "Available", "status": "True", "reason": "Serving", "message": ""},
            {"type": "Ready", "status": "False", "reason": "ScalingUp", "message": "4 → 6"},
        ],
    },
}


def pod(*, name: str, role: str, offset: int, ranks: int, **status: object) -> dict[str, object]:
    labels = {"elasticep.dev/group-name": "g", "elasticep.dev/role": role}
    if role == "joiner":
        labels["elasticep.dev/rank-offset"] = str(offset)
    container = {"name": "engine", "resources": {"limits": {"nvidia.com/gpu": str(ranks)}}}
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"containers": [container], "nodeName": "node"},
        "status": {"phase": "Pending", **status},
    }


def running(*, ready: bool) -> dict[str, object]:
    return {"containerStatuses": [{"ready": ready, "state": {"running": {}}}]}


def test_scene_says_what_the_objects_say() -> None:
    scene = read_scene(
        group=GROUP,
        pods=[
            pod(name="j", role="joiner", offset=4, ranks=2, **running(ready=False)),
            pod(name="l", role="leader", offset=0, ranks=4, **running(ready=True)),
        ],
        events=[{"metadata": {"name": "e"}, "reason": "ScaleUpStarted", "note": "4 → 6"}],
    )
    assert (scene.effective, scene.desired, scene.pending) == (4, 8, 6)
    assert (scene.settled, scene.ready, scene.complete) == (False, False, False)
    assert [(p.name, p.state, p.ranks) for p in scene.pods] == [
        ("l", "Ready", 4),
        ("j", "Running", 2),
    ]
    assert scene.events[0].note == "4 → 6"


def test_group_that_is_not_there_yet_is_an_empty_scene() -> None:
    assert read_scene(group=None, pods=[], events=[]) == Scene()


def test_status_of_an_older_spec_is_not_ready() -> None:
    conditions = [{"type": "Ready", "status": "True", "reason": "AllRanksServing"}]
    status = {**GROUP["status"], "conditions": conditions}
    stale = {"metadata": {"generation": 3}, "status": status}
    assert read_scene(group={**GROUP, "status": status}, pods=[], events=[]).ready
    assert not read_scene(group=stale, pods=[], events=[]).ready


def not_running(state: str, reason: str) -> dict[str, object]:
    return {"containerStatuses": [{"state": {state: {"reason": reason}}}]}


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ({}, "Pending"),
        (running(ready=False), "Running"),
        (running(ready=True), "Ready"),
        (
            {"containerStatuses": [{"state": {"waiting": {"reason": "CrashLoopBackOff"}}}]},
            "CrashLoopBackOff",
        ),
        ({"containerStatuses": [{"state": {"terminated": {"reason": "Error"}}}]}, "Error"),
    ],
)
def test_state_of_a_pod_is_one_word(status: dict[str, object], state: str) -> None:
    seen = pod(name="l", role="leader", offset=0, ranks=4, **status)
    (view,) = read_scene(group=GROUP, pods=[seen], events=[]).pods
    assert view.state == state


def test_pods_of_others_are_told_apart() -> None:
    assert of_group(pod(name="l", role="leader", offset=0, ranks=4), "g")
    assert not of_group(pod(name="l", role="leader", offset=0, ranks=4), "h")
    assert not of_group({"metadata": {"name": "x"}}, "g")


LEADER = PodView(
    name="l", role="leader", offset=0, ranks=4, node="node", address="10.0.0.1", state="Ready"
)


def test_lines_tell_each_change_once() -> None:
    event = EventView(name="e", reason="ScaleUpStarted", note="4 → 6", alarming=False)
    before = Scene(effective=0, desired=8)
    after = Scene(effective=4, desired=8, pods=(LEADER,), events=(event,))
    assert list(changes(before, after)) == [
        "pod    l Ready on node",
        "size   EP 4 of 8",
        "event  ScaleUpStarted: 4 → 6",
    ]
    assert list(changes(after, after)) == []


def test_picture_has_a_square_for_each_rank() -> None:
    console = Console(width=100, color_system=None)
    with console.capture() as captured:
        scene = Scene(effective=4, desired=8, pending=6, pods=(LEADER,))
        console.print(picture(scene, title="g", seconds=1.0))
    assert captured.get().count("■") == 6
    assert captured.get().count("□") == 2
    assert "0-3" in captured.get()


def operation(**values: object) -> dict[str, object]:
    return {
        "old": 4,
        "target": 6,
        "completed_at": 109.0,
        "cohort_registered_at": 107.5,
        "load_seconds": 6.0,
        "join_seconds": 1.0,
        **values,
    }


def test_what_is_added_is_the_wall_time_without_the_engines_own_work() -> None:
    (joined,) = joinings(served_at={4: 100.0, 6: 109.5}, operations=[operation()])
    assert joined == Joining(old=4, new=6, wall=9.5, load=6.0, join=1.0, pod_start=1.5)
    assert joined.added == 2.5


@pytest.mark.parametrize(
    "unfinished", [operation(completed_at=None), operation(target=8), operation(old=2)]
)
def test_only_growth_that_was_seen_from_end_to_end_counts(unfinished: dict[str, object]) -> None:
    assert joinings(served_at={4: 100.0, 6: 109.5}, operations=[unfinished]) == []


def test_median_is_over_joiners() -> None:
    walls = (8.0, 8.5, 12.0)
    joined = [Joining(old=4, new=6, wall=w, load=6, join=1, pod_start=0.5) for w in walls]
    assert median_added(joined) == 1.5
