"""From a pydantic model to the structural schema that a CRD holds.

Kubernetes takes a narrow dialect of JSON schema: no references, no titles, no unions. What a
model can say and the dialect cannot is an error here and not at the API server.
https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]

INT_OR_STRING = "x-kubernetes-int-or-string"
PRESERVE_UNKNOWN = "x-kubernetes-preserve-unknown-fields"

_COPIED = (
    "format",
    "enum",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "maxProperties",
    "required",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
)


def structural_schema(model: type[BaseModel], *, defaults: bool) -> Schema:
    """The structural schema of ``model``; ``defaults`` says whether the API server fills them in.

    Raises ValueError for what a structural schema cannot say.
    """
    root = model.model_json_schema(by_alias=True)
    return _Conversion(definitions=root.get("$defs", {}), defaults=defaults).schema(root)


class _Conversion:
    def __init__(self, *, definitions: Mapping[str, Any], defaults: bool) -> None:
        self._definitions = definitions
        self._defaults = defaults

    def schema(self, raw: Mapping[str, Any]) -> Schema:
        """The structural form of one node and of all below it."""
        node = self._resolved(raw)
        if node.get(INT_OR_STRING):
            return {**_description(node), **_int_or_string(node["anyOf"])}
        if "type" not in node:
            raise ValueError(f"a structural schema needs one type, this has none: {dict(node)}")
        kind: str = node["type"]
        result: Schema = {"type": kind, **_description(node)}
        if kind == "integer":
            result["format"] = "int32"
        result |= {key: node[key] for key in _COPIED if key in node}
        if "const" in node:
            result["enum"] = [node["const"]]
        if self._defaults and _worth_showing(node.get("default"), kind=kind):
            result["default"] = node["default"]
        return result | self._children(node)

    def _resolved(self, raw: Mapping[str, Any]) -> Mapping[str, Any]:
        """``raw`` without reference and without null; its own words win over the referred ones.

        Absent and null are the same to the API server, which drops nulls, so a field that is
        optional here is simply not required there.
        """
        node = dict(raw)
        alternatives = node.get("anyOf", [])
        some = [choice for choice in alternatives if choice.get("type") != "null"]
        if len(alternatives) == 2 and len(some) == 1:
            del node["anyOf"]
            return {**self._resolved(some[0]), **node}
        if "$ref" in node:
            reference = node.pop("$ref")
            return {**self._resolved(self._definitions[reference.rpartition("/")[2]]), **node}
        return node

    def _children(self, node: Mapping[str, Any]) -> Schema:
        children: Schema = {}
        if "properties" in node:
            children["properties"] = {
                name: self.schema(child) for name, child in node["properties"].items()
            }
        if "items" in node:
            children["items"] = self.schema(node["items"])
        match node.get("additionalProperties"):
            case True:
                children[PRESERVE_UNKNOWN] = True
            case Mapping() as values:
                children["additionalProperties"] = self.schema(values)
            case _:
                pass
        return children


def _int_or_string(alternatives: list[Mapping[str, Any]]) -> Schema:
    """Each of the alternatives' bounds; none can be mistaken for the other's."""
    bounds = {key: value for choice in alternatives for key, value in choice.items()}
    return {INT_OR_STRING: True} | {key: bounds[key] for key in _COPIED if key in bounds}


def _description(node: Mapping[str, Any]) -> Schema:
    """The description in one line: kubectl explain breaks lines itself."""
    return {"description": " ".join(node["description"].split())} if "description" in node else {}


def _worth_showing(default: object, *, kind: str) -> bool:
    """Whether the API server should fill the default in.

    An empty string or list says no more than its absence, and an object's defaults are those of
    its fields.
    """
    if kind == "object" or default is None:
        return False
    return kind in ("boolean", "integer") or bool(default)
