"""Builders of snapshots: a few words for a state of the world."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from elasticep.api import names
from elasticep.api.models import GroupSpec, GroupStatus
from elasticep.plan import objects
from elasticep.plan.template_hash import template_hash
from elasticep.plan.view import View
from elasticep.world.engine import EngineState, EngineUnknown
from elasticep.world.pods import Container, Pod
from elasticep.world.snapshot import Existing, Group, Snapshot

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
UID = "group-uid"
INCARNATION = names.incarnation_id(UID, 1)
LIFE = names.short_hash("leader-uid", "containerd://one")
LOADING = EngineUnknown(reason="EngineUnreachable", message="no answer")


def spec(**changes: Any) -> GroupSpec:
    """The spec of the example: leader 4, joiners 2, at most 8; with top-level changes."""
    raw: dict[str, Any] = {
        "replicas": 3,
        "model": {"path": "deepseek-ai/DeepSeek-V2-Lite"},
        "engine": {"image": "lmsysorg/sglang:v0.5.19"},
        "leader": {"ranks": 4},
        "joiner": {"ranks": 2},
        "maxEPSize": 8,
        "rdma": {"resource": "rdma/hca_shared_devices_a"},
    }
    return GroupSpec.model_validate({**raw, **changes})


def group(wanted: GroupSpec | None = None, *, status: GroupStatus | None = None) -> Group:
    """A group called ``lite`` in namespace ``default``."""
    return Group(
        namespace="default",
        name="lite",
        uid=UID,
        generation=1,
        resource_version="1",
        spec=wanted or spec(),
        status=status or GroupStatus(),
    )


def running(*, container_id: str = "containerd://one", restarts: int = 0) -> Container:
    """An engine container that runs."""
    return Container(
        name=names.CONTAINER,
        container_id=container_id,
        running=True,
        ready=True,
        started_at=NOW - timedelta(minutes=1),
        restarts=restarts,
    )


def leader(**changes: Any) -> Pod:
    """A leader pod that runs, is ready and gets traffic."""
    pod = Pod(
        name=names.leader_pod("lite", INCARNATION),
        uid="leader-uid",
        role=names.LEADER,
        incarnation=INCARNATION,
        serial=1,
        template_hash=template_hash(spec()),
        serving=True,
        phase="Running",
        ip="10.0.0.1",
        node="node-a",
        ready=True,
        containers=(running(),),
    )
    return replace(pod, **changes)


def joiner(offset: int, **changes: Any) -> Pod:
    """A joiner pod whose container runs."""
    pod = Pod(
        name=names.joiner_pod("lite", offset, LIFE),
        uid=f"joiner-{offset}-uid",
        role=names.JOINER,
        incarnation=INCARNATION,
        serial=1,
        offset=offset,
        leader_life=LIFE,
        template_hash=template_hash(spec()),
        phase="Running",
        ip=f"10.0.0.{offset}",
        node="node-b",
        ready=True,
        containers=(running(container_id=f"containerd://joiner-{offset}"),),
    )
    return replace(pod, **changes)


def engine(effective: int = 4, **changes: Any) -> EngineState:
    """An engine that serves and does nothing else."""
    phase = "idle" if effective == 4 else "serving_expanded"
    return replace(EngineState(effective=effective, pending=None, phase=phase), **changes)


def snapshot(**changes: Any) -> Snapshot:
    """A new group: nothing but the object."""
    return replace(Snapshot(group=group(), pods=(), now=NOW, engine=LOADING), **changes)


def surrounded(world: Snapshot) -> Snapshot:
    """The same world with all that the group needs around its pods."""
    assert isinstance(world.group.spec, GroupSpec)
    blueprint = View.of(world, world.group.spec).blueprint
    return replace(
        world,
        surroundings={
            manifest["kind"]: Existing(owner_uid=UID, content=manifest)
            for manifest, wanted in objects.kept_objects(blueprint)
            if wanted
        },
        admin_key_secret=Existing(owner_uid=UID, content=objects.admin_key_secret(blueprint)),
    )
