"""``elasticep render``: every object that the operator would make for a group.

What only a cluster can tell stands as ``$(NAME)``: the same file gives the same text anywhere,
so it can be reviewed, compared and kept.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from elasticep.api import names
from elasticep.api.reading import read_spec
from elasticep.cli.groups import Candidate, ExitCode, examine, report
from elasticep.plan import objects, pods
from elasticep.plan.pods import Blueprint
from elasticep.schema.verdict import as_stored

_ADMIN_KEY = "$(ADMIN_KEY)"
_GROUP_UID = "$(GROUP_UID)"
_INCARNATION = "$(INCARNATION)"
_LEADER_IP = "$(LEADER_IP)"
_LEADER_LIFE = "$(LEADER_LIFE)"

_HEAD = ("apiVersion", "kind", "metadata")
"""What people look for first."""


def render(files: Iterable[str]) -> ExitCode:
    """Prints the objects of all groups in ``files``, or only what is wrong when anything is."""
    seen = list(examine(files))
    code = report(seen, errors_to=sys.stderr)
    if code is ExitCode.CLEAN:
        groups = [item.manifest for item in seen if isinstance(item, Candidate)]
        manifests = [manifest for group in groups for manifest in rendered(group)]
        yaml.dump_all(
            manifests,
            sys.stdout,
            Dumper=_Dumper,
            explicit_start=True,
            sort_keys=False,
            allow_unicode=True,
            width=100,
        )
    return code


def rendered(group: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The objects of a valid ``group`` at its wanted size, pods in the order they are made."""
    spec = read_spec(as_stored(group))
    metadata = group["metadata"]
    blueprint = Blueprint(
        group=metadata["name"],
        namespace=metadata.get("namespace", ""),
        group_uid=_GROUP_UID,
        spec=spec,
    )
    for manifest in _manifests(blueprint):
        if not blueprint.namespace:
            del manifest["metadata"]["namespace"]
        yield {field: manifest[field] for field in _HEAD} | manifest


def _manifests(blueprint: Blueprint) -> Iterator[dict[str, Any]]:
    spec = blueprint.spec
    yield from (manifest for manifest, wanted in objects.kept_objects(blueprint) if wanted)
    if spec.engine.admin_key_secret_ref is None:
        secret = objects.admin_key_secret(blueprint)
        yield {**secret, "stringData": {names.ADMIN_KEY_FIELD: _ADMIN_KEY}}
    if spec.replicas > 0:
        yield pods.leader_pod(blueprint, incarnation=_INCARNATION, serial=1)
    for replicas in range(1, spec.replicas):
        yield pods.joiner_pod(
            blueprint,
            incarnation=_INCARNATION,
            serial=1,
            leader_life=_LEADER_LIFE,
            leader_address=_LEADER_IP,
            offset=spec.ep_size(replicas),
        )


class _Dumper(yaml.SafeDumper):
    """Repeats values that occur twice instead of referring to the first: people read this."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True
