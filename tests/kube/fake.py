"""An API server in memory: as much of one as the port `Kube` needs.

`test_port.py` holds it to what a real API server does. Left out, because no caller rests on it:
validation against a schema, defaults, garbage collection, and the merging of lists, which an apply
replaces as a whole.
"""

import copy
import itertools
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from tests.kube.owned_object import OwnedObject, Owner, leaves, selected

from elasticep.kube.port import (
    GROUPS,
    PODS,
    AlreadyExistsError,
    ConflictError,
    InvalidError,
    Manifest,
    NotFoundError,
    Resource,
)

T = TypeVar("T")

Id = tuple[Resource, str, str]

_HAS_STATUS = frozenset({GROUPS, PODS})
_BIRTH = "2026-01-01T00:00:00Z"


@dataclass(kw_only=True)
class Fault:
    """The next ``times`` requests of this verb for this kind go wrong."""

    verb: str
    resource: Resource
    error: Exception
    times: int = 1
    done_all_the_same: bool = False
    """Whether the request is carried out and only its answer is lost."""


class FakeKube:
    """A `Kube` whose objects are in this process."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.requests: Counter[str] = Counter()
        """How often each verb was asked for, refused requests included."""
        self.logs: dict[tuple[str, str, str, bool], str] = {}
        """What `log_tail` answers, by namespace, pod, container and whether it is the previous."""
        self._objects: dict[Id, OwnedObject] = {}
        self._versions = itertools.count(1)

    async def get(self, resource: Resource, namespace: str, name: str) -> dict[str, Any]:
        return self._answer("get", resource, lambda: self._find((resource, namespace, name)))

    async def list(
        self, resource: Resource, *, namespace: str | None = None, labels: str = ""
    ) -> list[dict[str, Any]]:
        def chosen() -> list[dict[str, Any]]:
            return [
                stored.manifest
                for (kind, where, _), stored in sorted(self._objects.items(), key=_by_name)
                if kind == resource
                and namespace in {None, where}
                and selected(stored.manifest["metadata"].get("labels", {}), labels)
            ]

        return self._answer("list", resource, chosen)

    async def create(self, resource: Resource, manifest: Manifest) -> dict[str, Any]:
        return self._answer("create", resource, lambda: self._create(resource, manifest))

    async def replace(self, resource: Resource, manifest: Manifest) -> dict[str, Any]:
        return self._answer("replace", resource, lambda: self._replace(resource, manifest))

    async def apply(
        self, resource: Resource, manifest: Manifest, *, manager: str, subresource: str = ""
    ) -> dict[str, Any]:
        return self._answer(
            "apply", resource, lambda: self._apply(resource, manifest, manager, subresource)
        )

    async def delete(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        *,
        uid: str,
        grace_seconds: int | None = None,
    ) -> None:
        self._answer(
            "delete",
            resource,
            lambda: self._delete((resource, namespace, name), uid, grace_seconds),
        )

    async def log_tail(self, namespace: str, pod: str, container: str, *, previous: bool) -> str:
        def tail() -> str:
            self._find((PODS, namespace, pod))
            log = self.logs.get((namespace, pod, container, previous))
            if log is None:
                raise InvalidError(400, "BadRequest", f"container {container!r} has no such log")
            return log

        return self._answer("get", PODS, tail)

    async def close(self) -> None:
        """Nothing is open."""

    def change(
        self, resource: Resource, namespace: str, name: str, edit: Callable[[dict[str, Any]], None]
    ) -> None:
        """Somebody else, the kubelet say, changes an object in place."""
        stored = self._objects[resource, namespace, name]
        changed = copy.deepcopy(stored.manifest)
        edit(changed)
        self._store((resource, namespace, name), replace(stored, manifest=changed))

    def remove(self, resource: Resource, namespace: str, name: str) -> None:
        """The object is gone, finalizers or not."""
        del self._objects[resource, namespace, name]

    def _answer(self, verb: str, resource: Resource, act: Callable[[], T]) -> T:
        self.requests[verb] += 1
        fault = next((f for f in self.faults if (f.verb, f.resource) == (verb, resource)), None)
        if fault is None:
            return copy.deepcopy(act())
        fault.times -= 1
        if fault.times == 0:
            self.faults.remove(fault)
        if fault.done_all_the_same:
            act()
        raise fault.error

    def _find(self, ident: Id) -> dict[str, Any]:
        if ident not in self._objects:
            raise NotFoundError(404, "NotFound", f'{ident[0].plural} "{ident[2]}" not found')
        return self._objects[ident].manifest

    def _create(
        self, resource: Resource, manifest: Manifest, owner: Owner = ("elasticep", "Update")
    ) -> dict[str, Any]:
        ident = _ident(resource, manifest)
        if ident in self._objects:
            raise AlreadyExistsError(409, "AlreadyExists", f'"{ident[2]}" already exists')
        body = _without_status(resource, manifest)
        born = copy.deepcopy(dict(body))
        born["metadata"] = {
            **born["metadata"],
            "uid": str(uuid.uuid4()),
            "creationTimestamp": _BIRTH,
        }
        if resource == PODS:
            born["status"] = {"phase": "Pending"}
        return self._store(
            ident, OwnedObject(manifest=born, owners={owner: frozenset(dict(leaves(body)))})
        )

    def _replace(self, resource: Resource, manifest: Manifest) -> dict[str, Any]:
        ident = _ident(resource, manifest)
        if "resourceVersion" not in manifest["metadata"]:
            raise InvalidError(422, "Invalid", "metadata.resourceVersion: must be specified")
        old = self._find(ident)
        _check_preconditions(manifest, old, uid=True)
        body = copy.deepcopy(dict(_without_status(resource, manifest)))
        if "status" in old:
            body["status"] = old["status"]
        body["metadata"] = {**body["metadata"], "uid": old["metadata"]["uid"]}
        return self._store(ident, replace(self._objects[ident], manifest=body))

    def _apply(
        self, resource: Resource, manifest: Manifest, manager: str, subresource: str
    ) -> dict[str, Any]:
        ident = _ident(resource, manifest)
        if ident not in self._objects:
            return self._apply_to_nothing(resource, manifest, manager, subresource)
        stored = self._objects[ident]
        _check_preconditions(manifest, stored.manifest, uid=subresource != "status")
        intent = _part(resource, manifest, subresource)
        owner = (manager, subresource or "Apply")
        return self._store(ident, stored.with_applied(intent, owner=owner))

    def _apply_to_nothing(
        self, resource: Resource, manifest: Manifest, manager: str, subresource: str
    ) -> dict[str, Any]:
        if subresource:
            raise NotFoundError(404, "NotFound", "there is no such object")
        if manifest["metadata"].keys() & {"uid", "resourceVersion"}:
            raise ConflictError(409, "Conflict", "uid or version given, and no such object exists")
        return self._create(resource, manifest, owner=(manager, "Apply"))

    def _delete(self, ident: Id, uid: str, grace_seconds: int | None) -> None:
        stored = self._objects.get(ident)
        if stored is None or stored.manifest["metadata"]["uid"] != uid:
            return
        on_node = ident[0] == PODS and "nodeName" in stored.manifest.get("spec", {})
        if not on_node and not stored.manifest["metadata"].get("finalizers"):
            del self._objects[ident]
        elif "deletionTimestamp" not in stored.manifest["metadata"]:
            leaving = copy.deepcopy(stored.manifest)
            own = leaving.get("spec", {}).get("terminationGracePeriodSeconds", 30)
            grace = own if grace_seconds is None else grace_seconds
            leaving["metadata"] |= {
                "deletionTimestamp": _BIRTH,
                "deletionGracePeriodSeconds": grace,
            }
            self._store(ident, replace(stored, manifest=leaving))

    def _store(self, ident: Id, after: OwnedObject) -> dict[str, Any]:
        """Keep the object under a new version, unless it is as it was."""
        before = self._objects.get(ident)
        manifest = after.manifest
        if before is None or before.manifest != manifest:
            metadata = manifest["metadata"]
            metadata["resourceVersion"] = str(next(self._versions))
            if ident[0] == GROUPS:
                metadata["generation"] = _generation(before, manifest)
        self._objects[ident] = after
        return manifest


def _generation(before: OwnedObject | None, manifest: Manifest) -> int:
    if before is None:
        return 1
    generation: int = before.manifest["metadata"]["generation"]
    return generation + (before.manifest.get("spec") != manifest.get("spec"))


def _ident(resource: Resource, manifest: Manifest) -> Id:
    return resource, manifest["metadata"]["namespace"], manifest["metadata"]["name"]


def _by_name(item: tuple[Id, OwnedObject]) -> tuple[str, str]:
    return item[0][1:]


def _without_status(resource: Resource, manifest: Manifest) -> Manifest:
    return {k: v for k, v in manifest.items() if k != "status" or resource not in _HAS_STATUS}


def _part(resource: Resource, manifest: Manifest, subresource: str) -> Manifest:
    """What a request may write: the status alone, or all but the status."""
    if subresource == "status":
        return {"status": manifest.get("status", {})}
    return _without_status(resource, manifest)


def _check_preconditions(manifest: Manifest, old: Manifest, *, uid: bool) -> None:
    wanted, actual = manifest["metadata"], old["metadata"]
    if wanted.get("resourceVersion") not in {None, actual["resourceVersion"]}:
        raise ConflictError(409, "Conflict", "the object has been modified")
    if uid and wanted.get("uid") not in {None, actual["uid"]}:
        raise InvalidError(422, "Invalid", "metadata.uid: field is immutable")
