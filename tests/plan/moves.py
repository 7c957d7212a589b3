"""Two incarnations of one group: states that several tests of moves begin with."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from tests.plan import states, world

from elasticep.api import names
from elasticep.api.models import GroupSpec
from elasticep.plan.actions import CreatePod, DeletePod, SendTraffic, StopTraffic
from elasticep.plan.decision import Plan
from elasticep.plan.planner import plan
from elasticep.plan.template_hash import template_hash
from elasticep.world.engine import CompletionSucceeded, EngineUnknown, Hearing
from elasticep.world.pods import Pod
from elasticep.world.snapshot import Snapshot

NEXT = names.incarnation_id(world.UID, 2)
SILENT = EngineUnknown(reason="EngineUnreachable", message="it has ended")
AT_ONCE = {"stabilizationSeconds": 0}


def next_leader(spec: GroupSpec, **changes: Any) -> Pod:
    """The leader pod of the second incarnation: it runs, is ready, and gets no traffic yet."""
    changes = {
        "name": names.leader_pod("lite", NEXT),
        "uid": "next-leader-uid",
        "incarnation": NEXT,
        "serial": 2,
        "template_hash": template_hash(spec),
        "serving": False,
        "ip": "10.0.1.1",
        "scheduled_at": world.NOW,
        "containers": (world.running(container_id="containerd://next"),),
        **changes,
    }
    return world.leader(**changes)


def told(state: Snapshot, *, seconds: float = 1) -> Snapshot:
    """The same world after it was looked at and that was put on record."""
    return states.later(state, plan(state), seconds=seconds)


def proven(effective: int) -> Hearing:
    """A successor's engine that serves with that many ranks, and has answered a completion."""
    return Hearing(engine=world.engine(effective), completion=CompletionSucceeded())


def beside(state: Snapshot, *pods: Pod, heard: Hearing | None = None) -> Snapshot:
    """The same world with pods of a successor, and what its engine says."""
    return replace(state, pods=(*state.pods, *pods), successor=heard)


def changed(state: Snapshot, uid: str, **changes: Any) -> Snapshot:
    """The same world with one pod changed."""
    pods = tuple(replace(pod, **changes) if pod.uid == uid else pod for pod in state.pods)
    return replace(state, pods=pods)


def gone(state: Snapshot, *uids: str) -> Snapshot:
    """The same world without these pods."""
    return replace(state, pods=tuple(pod for pod in state.pods if pod.uid not in uids))


def leaving(state: Snapshot, uid: str) -> Snapshot:
    """The same world with one pod being deleted."""
    return changed(state, uid, gone_by=state.now + timedelta(seconds=60))


def done(planned: Plan) -> list[tuple[str, str]]:
    """What a plan does: deeds and the pods that they are done to."""
    deeds = []
    for action in planned.actions:
        match action:
            case CreatePod(manifest=manifest):
                deeds.append(("create", manifest["metadata"]["name"]))
            case DeletePod(name=name):
                deeds.append(("delete", name))
            case SendTraffic(pod=pod):
                deeds.append(("traffic", pod))
            case StopTraffic(pod=pod):
                deeds.append(("no traffic", pod))
            case other:
                deeds.append((type(other).__name__, ""))
    return deeds
