"""One look at one group, into one snapshot."""

import asyncio
import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from elasticep.api import names
from elasticep.api.models import GroupSpec
from elasticep.api.reading import SpecUnreadableError, read_spec, read_status
from elasticep.api.reasons import Progress
from elasticep.engine.contract import UnknownEngineVersion, contract_for, version_from_image
from elasticep.kube.port import (
    GROUPS,
    PODS,
    SECRETS,
    SURROUNDINGS,
    Kube,
    NotFoundError,
    Resource,
)
from elasticep.observe.engines import EngineListener, Observation
from elasticep.observe.last_words import with_last_words, without_secret
from elasticep.observe.pods import controller_uid, read_pod
from elasticep.plan.pods import admin_key_reference
from elasticep.plan.view import View
from elasticep.world.engine import (
    EngineUnknown,
)
from elasticep.world.key import Key
from elasticep.world.pods import Pod
from elasticep.world.snapshot import Existing, Group, Snapshot, SpecProblem


@dataclass(frozen=True, kw_only=True)
class Observer:
    """Reads what a decision needs; every read is live."""

    kube: Kube
    engines: EngineListener
    now: Callable[[], datetime]

    async def observe(self, key: Key) -> Observation | None:
        """What is known of a group; nothing when it does not exist.

        Raises:
            KubeError: the API server could not be read.
        """
        try:
            raw = await self.kube.get(GROUPS, key.namespace, key.name)
        except NotFoundError:
            return None
        group = _read_group(raw)
        spec = group.spec if isinstance(group.spec, GroupSpec) else None
        secret_name = _admin_key_secret_name(group, spec)
        pods, secret, surroundings = await asyncio.gather(
            self._pods(group),
            self._existing(SECRETS, key, secret_name),
            self._surroundings(key),
        )
        snapshot = Snapshot(
            group=group,
            pods=pods,
            now=self.now(),
            engine=EngineUnknown(
                reason=Progress.LEADER_STARTING, message="the leader is not running yet"
            ),
            surroundings=surroundings,
            admin_key_secret=secret,
        )
        if spec is None:
            return Observation(snapshot=snapshot, engines={})
        view = View.of(snapshot, spec)
        if admin_key := _admin_key(view):
            pods = tuple(without_secret(pod, admin_key) for pod in pods)
            view = View.of(replace(snapshot, pods=pods), spec)
        return await self.engines.hear(view, admin_key)

    async def _pods(self, group: Group) -> tuple[Pod, ...]:
        """The pods that the group controls; another one's with its labels is none of ours."""
        found = await self.kube.list(
            PODS, namespace=group.namespace, labels=names.pod_selector(group.name)
        )
        mine = [read_pod(raw) for raw in found if controller_uid(raw) == group.uid]
        return tuple([await with_last_words(self.kube, group.namespace, pod) for pod in mine])

    async def _surroundings(self, key: Key) -> dict[str, Existing]:
        expected = names.surroundings(key.name)
        found = await asyncio.gather(
            *(self._existing(SURROUNDINGS[kind], key, name) for kind, name in expected.items())
        )
        return {
            kind: existing
            for kind, existing in zip(expected, found, strict=True)
            if existing is not None
        }

    async def _existing(self, resource: Resource, key: Key, name: str) -> Existing | None:
        try:
            raw = await self.kube.get(resource, key.namespace, name)
        except NotFoundError:
            return None
        return Existing(owner_uid=controller_uid(raw), content=raw)


def _read_group(raw: dict[str, Any]) -> Group:
    metadata = raw["metadata"]
    return Group(
        namespace=metadata["namespace"],
        name=metadata["name"],
        uid=metadata["uid"],
        generation=metadata["generation"],
        resource_version=metadata["resourceVersion"],
        spec=_read_spec(raw),
        status=read_status(raw),
        deleting="deletionTimestamp" in metadata,
        resume=metadata.get("annotations", {}).get(names.ANNOTATION_RESUME, ""),
    )


def _read_spec(raw: dict[str, Any]) -> GroupSpec | SpecProblem:
    """The spec, or what is wrong with one that the rules of another day have let in."""
    try:
        spec = read_spec(raw)
        contract_for(spec.engine.version or version_from_image(spec.engine.image) or "")
    except SpecUnreadableError as problem:
        return SpecProblem(message=str(problem))
    except UnknownEngineVersion as problem:
        return SpecProblem(message=f"spec.engine.version: {problem}")
    return spec


def _admin_key_secret_name(group: Group, spec: GroupSpec | None) -> str:
    if spec is not None and spec.engine.admin_key_secret_ref is not None:
        return spec.engine.admin_key_secret_ref.name
    return names.admin_key_secret(group.name)


def _admin_key(view: View) -> str | None:
    secret = view.snapshot.admin_key_secret
    _, field = admin_key_reference(view.blueprint)
    encoded = (secret.content.get("data") or {}).get(field) if secret else None
    if not encoded:
        return None
    try:
        return base64.b64decode(encoded, validate=True).decode().strip()
    except (binascii.Error, UnicodeDecodeError):
        return None
