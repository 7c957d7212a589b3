"""What stands around the pods: made when missing, mended when changed, ended when not wanted."""

from dataclasses import dataclass

from elasticep.plan import objects
from elasticep.plan.actions import Action, ApplyObject, CreateAdminKey, DeleteObject, Manifest
from elasticep.plan.view import View
from elasticep.world.snapshot import Existing


@dataclass(frozen=True, kw_only=True)
class Surrounding:
    """One object around the pods, as it should be and as it is."""

    manifest: Manifest
    """What the group's own one looks like."""
    existing: Existing | None
    """What stands under its name now."""
    wanted: bool = True
    """Whether the spec asks for it."""

    @property
    def kind(self) -> str:
        """What it is, for machines and for people."""
        return str(self.manifest["kind"])

    @property
    def name(self) -> str:
        """What it is called, whether it is wanted or not."""
        return str(self.manifest["metadata"]["name"])


def kept_objects(view: View) -> tuple[Surrounding, ...]:
    """The objects that are kept as the spec wants them for as long as the group is there."""
    standing = view.snapshot.surroundings
    return tuple(
        Surrounding(manifest=manifest, existing=standing.get(manifest["kind"]), wanted=wanted)
        for manifest, wanted in objects.kept_objects(view.blueprint)
    )


def admin_key(view: View) -> Surrounding:
    """The generated admin key's Secret, which is made once: its engine has read it."""
    return Surrounding(
        manifest=objects.admin_key_secret(view.blueprint),
        existing=view.snapshot.admin_key_secret,
        wanted=view.spec.engine.admin_key_secret_ref is None,
    )


def surroundings(view: View) -> tuple[Action, ...]:
    """What is to be done about the objects around the pods; nothing when all is as it should be."""
    actions: list[Action] = []
    secret = admin_key(view)
    if secret.wanted and secret.existing is None:
        actions.append(
            CreateAdminKey(manifest=secret.manifest, why="the group has no admin key yet")
        )
    for surrounding in kept_objects(view):
        step = _keep(surrounding) if surrounding.wanted else _end(surrounding, view.group.uid)
        actions += [step] if step is not None else []
    return tuple(actions)


def _keep(surrounding: Surrounding) -> ApplyObject | None:
    manifest, existing = surrounding.manifest, surrounding.existing
    if existing is None:
        return ApplyObject(manifest=manifest, why=f"the group has no {surrounding.kind} yet")
    if objects.is_changed(manifest, existing.content):
        return ApplyObject(manifest=manifest, why=f"the {surrounding.kind} was changed")
    return None


def _end(surrounding: Surrounding, group_uid: str) -> DeleteObject | None:
    """Nothing for somebody else's object: a name that is not needed is anybody's."""
    existing = surrounding.existing
    if existing is None or existing.owner_uid != group_uid or existing.leaving:
        return None
    return DeleteObject(
        kind=surrounding.kind,
        name=surrounding.name,
        uid=existing.content["metadata"]["uid"],
        why=f"the spec asks for no {surrounding.kind}",
    )
