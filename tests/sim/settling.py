"""How a story must end: once the faults stop, the group has its size or says why it has not."""

from __future__ import annotations

from datetime import timedelta

from tests.sim.engines import BREAKS_JOINER, BREAKS_LEADER
from tests.sim.kubelet import PLENTY
from tests.sim.laws import live
from tests.sim.story import Story
from tests.sim.wellformed import insist, is_true, reason_of

MOST_MOVES = 800
TICK = timedelta(seconds=2)
LONG_QUIET = timedelta(minutes=20)
"""Longer than any back-off: what has not changed for so long will not change."""


def settle(story: Story) -> None:
    """Nothing new goes wrong: the group comes to rest, stays there, and is as it should be."""
    story.says("--- the faults stop")
    nodes, api = story.nodes, story.api
    nodes.image_missing = api.quota_spent = False
    nodes.leader_unreachable = nodes.completions_lost = nodes.loads_unknown = False
    if api.unreadable:
        api.unreadable = False
        api.generation += 1
    api.touch_group()
    if api.spec.paused:
        _quiet(story)
        story.says("--- the user lets it go on")
        api.edit(api.spec.model_copy(update={"paused": False}))
    _rest(story)
    _quiet(story)
    _judge(story)
    _delete(story)


def _delete(story: Story) -> None:
    """The owner references end everything: the operator only keeps its hands off."""
    story.api.deleting = True
    story.api.touch_group()
    before = story.operator.effects
    story.finish_round()
    insist(story.operator.effects == before, "nothing is done for a group that is deleted")


def _rest(story: Story) -> None:
    changed_at = story.now
    for _ in range(MOST_MOVES):
        effects = story.operator.effects
        if story.goes_on() or story.operator.effects > effects:
            changed_at = story.now
        if not _wait(story) or story.now > changed_at + LONG_QUIET:
            break
    else:
        insist(False, f"it comes to rest: {_where(story)}")


def _quiet(story: Story) -> None:
    """Nobody writes to a world in which only time passes; pods are not to move meanwhile."""
    for _ in range(5):
        story.api.now += timedelta(hours=1)
        before = story.operator.effects
        story.finish_round()
    quiet = story.operator.effects == before
    insist(quiet, f"nothing is written while nothing changes: {_where(story)}")


def _wait(story: Story) -> bool:
    """Time passes until the next thing is due; whether there is one."""
    if story.operator.due:
        return True
    looks = story.operator.next_look
    alarms = [*story.nodes.alarms(), *([looks] if looks else [])]
    coming = [alarm for alarm in alarms if alarm > story.now]
    if coming:
        story.time_passes(max(TICK, min(coming) - story.now))
    return bool(coming)


def _judge(story: Story) -> None:
    status, spec = story.api.status, story.api.spec
    if is_true(status, "Stalled"):
        insist(_may_stall(story), f"it stops only where no retry helps: {_where(story)}")
        idle = [p.name for p in live(story.api) if p.joiner and not p.joiner.admitted]
        insist(not idle, f"no joiner holds its GPUs for nothing: {idle}, {_where(story)}")
        return
    if spec.replicas == 0:
        insist(not live(story.api), f"nothing runs in a stopped group: {_where(story)}")
        return
    if not _is_explained(story):
        _judge_size(story)


def _judge_size(story: Story) -> None:
    status, spec = story.api.status, story.api.spec
    lives = story.nodes.leaders()
    insist(len(lives) == 1, f"one leader lives: {_where(story)}")
    effective, desired = lives[0].group.effective, spec.ep_size()
    insist(is_true(status, "Ready"), f"it is ready in the end: {_where(story)}")
    insist(effective == desired, f"it has the wanted size: {_where(story)}")
    pods = live(story.api)
    insist(len(pods) == spec.replicas, f"no pod is left over: {[p.name for p in pods]}")
    traffic = [pod.name for pod in pods if pod.serving]
    insist(len(traffic) == 1, f"traffic goes to the one leader: {traffic}")


def _is_explained(story: Story) -> bool:
    """Whether the size is another one, and the status says truly why."""
    status, spec, nodes = story.api.status, story.api.spec, story.nodes
    sizes = [leader.group.effective for leader in nodes.leaders()]
    larger = max(sizes, default=0) > spec.ep_size()
    match reason_of(status, "ScaleLimited"):
        case "ScaleDownDisabled":
            disabled = "Disabled" in {spec.scale_down.strategy, spec.scale_down.fallback}
            return larger and disabled
        case "InsufficientCapacity":
            return nodes.gpus < PLENTY and bool(sizes)
        case "Unschedulable" | "ProgressDeadlineExceeded":
            return nodes.gpus < PLENTY
    unsafe = any(leader.group.retirement.parting for leader in nodes.leaders())
    return reason_of(status, "Ready") == "ReleasingRanks" and unsafe


def _may_stall(story: Story) -> bool:
    """Whether the stop is one that only a human can end."""
    spec, status = story.api.spec, story.api.status
    leaders = story.nodes.leaders()
    if reason_of(status, "Stalled") == "EngineUnauthorized":
        return all(leader.admin_key != story.api.admin_key for leader in leaders)
    failure = status.failures
    if failure is None:
        return False
    if failure.reason == "QuotaExceeded":
        return False  # It was waited for, and there is room again.
    if failure.reason == "ProgressDeadlineExceeded" and story.nodes.gpus < PLENTY:
        return True
    breaks = {BREAKS_LEADER, BREAKS_JOINER}.intersection(spec.engine.args)
    if breaks and failure.reason in {"JoinTimedOut", "ScaleUpFailed"}:
        return False  # These are what comes of it, and tell nobody what to mend.
    return failure.count > spec.recovery.max_restarts or bool(breaks)


def _where(story: Story) -> str:
    status = story.api.status
    conditions = {c.type: f"{c.status}/{c.reason}" for c in status.conditions}
    pods = [f"{pod.name}:{pod.phase}" for pod in story.nodes.pods()]
    moving = f"{status.move}, {status.retiring}, {status.scale_down}"
    what = f"{status.ep_size}, {status.operation}, {status.failures}"
    return f"{conditions}, {what}, {moving}, {pods}"
