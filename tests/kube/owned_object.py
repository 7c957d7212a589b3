"""An object of the fake, and who owns which of its fields."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Path = tuple[str, ...]
Owner = tuple[str, str]
"""A field manager, and how it writes: what it creates is not what it applies."""

_IDENTITY = frozenset({"name", "namespace", "uid", "resourceVersion", "creationTimestamp"})


@dataclass(frozen=True, kw_only=True)
class OwnedObject:
    """An object's content, and the leaves of it that each owner wants there."""

    manifest: dict[str, Any]
    owners: Mapping[Owner, frozenset[Path]] = field(default_factory=dict)

    def with_applied(self, intent: Mapping[str, Any], *, owner: Owner) -> "OwnedObject":
        """The object after a server-side apply with force.

        A leaf that the owner wanted before and wants no more goes, unless somebody else wants it
        too; a leaf that gets another value is taken from whoever wanted the old one.
        """
        wanted = dict(leaves(intent))
        others = {o: paths for o, paths in self.owners.items() if o != owner}
        changed = copy.deepcopy(self.manifest)
        for path in self.owners.get(owner, frozenset()) - wanted.keys():
            if not any(path in paths for paths in others.values()):
                take_away(changed, path)
        for path, value in wanted.items():
            put(changed, path, value)
        kept = {
            o: frozenset(p for p in paths if at(self.manifest, p) == at(changed, p))
            for o, paths in others.items()
        }
        return OwnedObject(manifest=changed, owners={**kept, owner: frozenset(wanted)})


def selected(labels: Mapping[str, str], selector: str) -> bool:
    """Whether labels meet a selector made of ``key=value`` and ``key``."""
    for requirement in filter(None, selector.split(",")):
        key, equals, value = requirement.partition("=")
        if key not in labels or (equals and labels[key] != value):
            return False
    return True


def leaves(tree: Mapping[str, Any], root: Path = ()) -> Iterator[tuple[Path, Any]]:
    for key, value in tree.items():
        path = (*root, key)
        if path in {("apiVersion",), ("kind",)} or (path[:1] == ("metadata",) and key in _IDENTITY):
            continue
        if isinstance(value, Mapping) and value:
            yield from leaves(value, path)
        else:
            yield path, value


def at(tree: Any, path: Path) -> Any:
    for key in path:
        if not isinstance(tree, Mapping) or key not in tree:
            return None
        tree = tree[key]
    return tree


def put(tree: dict[str, Any], path: Path, value: Any) -> None:
    *way, last = path
    for key in way:
        tree = tree.setdefault(key, {})
    tree[last] = copy.deepcopy(value)


def take_away(tree: dict[str, Any], path: Path) -> None:
    """Take a leaf away, and the branches that are bare without it."""
    *way, last = path
    branch = at(tree, tuple(way))
    if isinstance(branch, dict):
        branch.pop(last, None)
        if way and not branch:
            take_away(tree, tuple(way))
