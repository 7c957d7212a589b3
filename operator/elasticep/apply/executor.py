"""One function per action. Each can be carried out twice without harm."""

import base64
import logging
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from elasticep.api import names
from elasticep.apply.refusals import refused_by_api_server, refused_by_engine, refused_by_name
from elasticep.control.client import Ambiguous, EngineClient, Refused
from elasticep.kube.port import (
    PODS,
    SECRETS,
    SURROUNDINGS,
    AlreadyExistsError,
    ForbiddenError,
    InvalidError,
    Kube,
    Manifest,
    NotFoundError,
)
from elasticep.plan.actions import (
    Action,
    ApplyObject,
    CreateAdminKey,
    CreatePod,
    DeleteObject,
    DeletePod,
    RequestScale,
    SendTraffic,
    StopTraffic,
)
from elasticep.world.key import Key
from elasticep.world.snapshot import Refusal

_LOG = logging.getLogger(__name__)

_KEY_BYTES = 32


@dataclass(frozen=True, kw_only=True)
class Executor:
    """Does what a plan says, with exact names and UIDs, in the plan's order."""

    kube: Kube
    count_pod: Callable[[str], None]
    """Told the role of every pod that was made."""

    async def carry_out(
        self, actions: Iterable[Action], *, key: Key, engines: Mapping[str, EngineClient]
    ) -> tuple[Refusal, ...]:
        """Carry out the actions, up to the first one that is refused.

        ``engines`` are those that can be asked, by the UIDs of their leader pods.

        Returns:
            The refusal, if there was one: words for the planner to explain.

        Raises:
            KubeError: trouble that passes by itself; the same plan is made and tried again.
        """
        for action in actions:
            refusal = await self._carry_out(action, key, engines)
            if refusal is not None:
                return (refusal,)
        return ()

    async def _carry_out(
        self, action: Action, key: Key, engines: Mapping[str, EngineClient]
    ) -> Refusal | None:
        match action:
            case CreatePod(manifest=manifest):
                return await self._create_pod(manifest)
            case DeletePod(name=name, uid=uid, grace_seconds=grace):
                await self.kube.delete(PODS, key.namespace, name, uid=uid, grace_seconds=grace)
            case RequestScale(target=target, leader_uid=leader_uid):
                return await _request_scale(engines.get(leader_uid), target)
            case SendTraffic(pod=pod, uid=uid):
                await self._label(key, pod, uid, serving=True)
            case StopTraffic(pod=pod, uid=uid):
                await self._label(key, pod, uid, serving=False)
            case ApplyObject(manifest=manifest):
                return await self._apply_object(manifest)
            case DeleteObject():
                return await self._delete_object(action, key)
            case CreateAdminKey(manifest=manifest):
                return await self._create_admin_key(manifest)
        return None

    async def _create_pod(self, manifest: Manifest) -> Refusal | None:
        try:
            await self.kube.create(PODS, manifest)
        except AlreadyExistsError:
            return await self._explain_taken_name(manifest)
        except (ForbiddenError, InvalidError) as error:
            return refused_by_api_server(manifest, error)
        self.count_pod(manifest["metadata"]["labels"][names.LABEL_ROLE])
        return None

    async def _explain_taken_name(self, manifest: Manifest) -> Refusal | None:
        """Nothing when the next look finds the pod; one that it does not find is in the way.

        A pod of ours is on its way out, or was made by a request whose answer was lost.
        """
        metadata = manifest["metadata"]
        try:
            found = await self.kube.get(PODS, metadata["namespace"], metadata["name"])
        except NotFoundError:
            return None
        return None if _belongs_together(found, manifest) else refused_by_name(manifest)

    async def _apply_object(self, manifest: Manifest) -> Refusal | None:
        resource = SURROUNDINGS[manifest["kind"]]
        try:
            await self.kube.apply(resource, manifest, manager=names.FIELD_MANAGER)
        except (ForbiddenError, InvalidError) as error:
            return refused_by_api_server(manifest, error)
        return None

    async def _delete_object(self, action: DeleteObject, key: Key) -> Refusal | None:
        resource = SURROUNDINGS[action.kind]
        try:
            await self.kube.delete(resource, key.namespace, action.name, uid=action.uid)
        except ForbiddenError as error:
            return refused_by_api_server(
                {"kind": action.kind, "metadata": {"name": action.name}}, error
            )
        return None

    async def _create_admin_key(self, manifest: Manifest) -> Refusal | None:
        generated = base64.b64encode(secrets.token_urlsafe(_KEY_BYTES).encode()).decode()
        try:
            await self.kube.create(
                SECRETS, {**manifest, "data": {names.ADMIN_KEY_FIELD: generated}}
            )
        except AlreadyExistsError:
            return None
        except (ForbiddenError, InvalidError) as error:
            return refused_by_api_server(manifest, error)
        return None

    async def _label(self, key: Key, pod: str, uid: str, *, serving: bool) -> None:
        # The label is set to false, not taken off: somebody else may have set it too.
        label = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": pod,
                "namespace": key.namespace,
                "uid": uid,
                "labels": {names.LABEL_SERVING: str(serving).lower()},
            },
        }
        await self.kube.apply(PODS, label, manager=names.FIELD_MANAGER)


def _belongs_together(found: Manifest, manifest: Manifest) -> bool:
    """Whether both have the same owner, and the labels by which a group's pods are found."""
    theirs, ours = found["metadata"], manifest["metadata"]
    mine = {owner["uid"] for owner in ours["ownerReferences"]}
    owned = any(
        owner["uid"] in mine
        for owner in theirs.get("ownerReferences", [])
        if owner.get("controller")
    )
    return owned and all(
        theirs.get("labels", {}).get(label) == ours["labels"][label]
        for label in (names.LABEL_GROUP, names.LABEL_MANAGED_BY)
    )


async def _request_scale(engine: EngineClient | None, target: int) -> Refusal | None:
    if engine is None:
        return None
    answer = await engine.request_scale(target)
    if isinstance(answer, Ambiguous):
        _LOG.warning("no clear answer to EP size %d: %s", target, answer.message)
    # Accepted, busy and no answer at all look alike from here: only the engine's own state,
    # at the next look, tells what happened.
    return refused_by_engine(target, answer) if isinstance(answer, Refused) else None
