"""The API server: the group, its pods and what stands around them, under optimistic locks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.sim.pods import SimPod

from elasticep.api import names
from elasticep.api.models import GroupSpec, GroupStatus
from elasticep.kube.port import AlreadyExistsError, ConflictError, ForbiddenError
from elasticep.world.snapshot import Existing, Group, SpecProblem

NAME = "lite"
NAMESPACE = "default"
UID = "group-uid"
START = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


@dataclass(eq=False, kw_only=True)
class ApiServer:
    """What is stored; every change of a group or a pod moves `revision` and wakes the operator."""

    spec: GroupSpec
    status: GroupStatus = field(default_factory=GroupStatus)
    generation: int = 1
    revision: int = 1
    group_version: int = 1
    resume: str = ""
    deleting: bool = False
    unreadable: bool = False
    pods: dict[str, SimPod] = field(default_factory=dict)
    surroundings: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """What stands around the pods, by kind."""
    admin_key: int | None = None
    quota_spent: bool = False
    made: int = 0
    """How many objects were created, for UIDs and keys that never come again."""
    now: datetime = START

    def touch(self) -> None:
        """Something that the operator watches has changed."""
        self.revision += 1

    def edit(self, spec: GroupSpec) -> None:
        """A user writes the spec."""
        if spec != self.spec:
            self.spec = spec
            self.generation += 1
        self.touch_group()

    def touch_group(self) -> None:
        """The object has changed: a write that was made for the version before is refused."""
        self.group_version += 1
        self.touch()

    def read_group(self) -> Group:
        """The group as it is now."""
        problem = SpecProblem(message="spec.maxEPSize: is not a number")
        return Group(
            namespace=NAMESPACE,
            name=NAME,
            uid=UID,
            generation=self.generation,
            resource_version=str(self.group_version),
            spec=problem if self.unreadable else self.spec,
            status=self.status,
            deleting=self.deleting,
            resume=self.resume,
        )

    def read_surroundings(self) -> dict[str, Existing]:
        """What stands around the pods, by kind."""
        return {
            kind: Existing(owner_uid=UID, content=manifest)
            for kind, manifest in self.surroundings.items()
        }

    def apply(self, manifest: Mapping[str, Any]) -> None:
        """Bring an object around the pods to this, under the UID that it has or gets."""
        kind, uid = manifest["kind"], f"object-{self.made}"
        if kind in self.surroundings:
            uid = self.surroundings[kind]["metadata"]["uid"]
        self.made += 1
        self.surroundings[kind] = {**manifest, "metadata": {**manifest["metadata"], "uid": uid}}

    def delete(self, kind: str, *, uid: str) -> None:
        """That very object is gone."""
        if kind in self.surroundings and self.surroundings[kind]["metadata"]["uid"] == uid:
            del self.surroundings[kind]

    def read_admin_key(self) -> Existing | None:
        """The Secret with the group's admin key."""
        if self.admin_key is None:
            return None
        return Existing(owner_uid=UID, content={"data": {names.ADMIN_KEY_FIELD: self.admin_key}})

    def write_status(self, status: GroupStatus, *, version: str) -> str:
        """Store the status the way JSON keeps it; returns the object's new version.

        Raises:
            ConflictError: the object has changed since it was read as ``version``.
        """
        if version != str(self.group_version):
            raise ConflictError(409, "Conflict", "the object has been modified")
        raw = status.model_dump(mode="json", by_alias=True, exclude_none=True)
        self.status = GroupStatus.model_validate(raw)
        self.touch_group()
        return str(self.group_version)

    def create_pod(self, manifest: Mapping[str, Any]) -> SimPod:
        """Make a pod.

        Raises:
            AlreadyExistsError: a pod of that name exists, be it on its way out.
            ForbiddenError: the quota is spent.
        """
        name = manifest["metadata"]["name"]
        if name in self.pods:
            raise AlreadyExistsError(409, "AlreadyExists", f"pod {name} exists")
        self._admit("pods")
        self.made += 1
        pod = SimPod(manifest=manifest, uid=f"pod-{self.made}")
        self.pods[name] = pod
        self.touch()
        return pod

    def create_admin_key(self) -> None:
        """Make the Secret with a key that never was.

        Raises:
            AlreadyExistsError: it is there.
            ForbiddenError: the quota is spent.
        """
        if self.admin_key is not None:
            raise AlreadyExistsError(409, "AlreadyExists", "the secret exists")
        self._admit("secrets")
        self.made += 1
        self.admin_key = self.made

    def _admit(self, what: str) -> None:
        if self.quota_spent:
            raise ForbiddenError(403, "Forbidden", f"exceeded quota: team, requested: {what}=1")

    def delete_pod(self, pod: SimPod) -> None:
        """Mark a pod for deletion; one that has no node yet is gone at once."""
        if not pod.node:
            self.remove(pod)
        elif not pod.terminating:
            pod.gone_by = self.now + pod.grace
            self.touch()

    def label(self, pod: SimPod, *, serving: bool) -> None:
        """Put a leader into the Service, or take it out."""
        if pod.serving != serving:
            pod.has_served, pod.serving = pod.serving and not serving, serving
            pod.traffic_left_at = None if serving else self.now
            self.touch()

    def remove(self, pod: SimPod) -> None:
        """The pod is gone, and what ran in it."""
        pod.end_process()
        if self.pods.get(pod.name) is pod:
            del self.pods[pod.name]
        self.touch()
