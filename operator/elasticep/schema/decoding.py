"""What becomes of a written object before it is checked.

The API server drops fields that it does not know and fields that are null, and fills in
defaults; a client that decodes strictly, as kubectl does, is told of what it does not know.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from elasticep.schema.structural import PRESERVE_UNKNOWN, Schema

_METADATA_FIELDS = frozenset(
    {
        "annotations",
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",
        "generateName",
        "generation",
        "labels",
        "managedFields",
        "name",
        "namespace",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)


def unknown_fields(group: Mapping[str, Any], schema: Schema) -> Iterator[str]:
    """The paths of all fields that ``schema`` does not have."""
    metadata = group.get("metadata")
    if isinstance(metadata, Mapping):
        yield from (f"metadata.{name}" for name in metadata if name not in _METADATA_FIELDS)
    rest = {name: value for name, value in group.items() if name != "metadata"}
    yield from _unknown(rest, schema, path="")


def decoded(value: Any, schema: Schema) -> Any:
    """``value`` without what the API server drops, and with the defaults that it fills in."""
    match value:
        case Mapping():
            return _decoded_object(value, schema)
        case list() if "items" in schema:
            return [decoded(item, schema["items"]) for item in value]
        case _:
            return value


def _decoded_object(value: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    properties: Mapping[str, Schema] = schema.get("properties", {})
    values: Schema | None = schema.get("additionalProperties")
    result: dict[str, Any] = {}
    for name, item in value.items():
        child = properties.get(name, values)
        if child is None:
            result |= {name: item} if _keeps_unknown(schema) else {}
        elif item is not None:
            result[name] = decoded(item, child)
    for name, child in properties.items():
        if name not in result and "default" in child:
            result[name] = child["default"]
    return result


def _unknown(value: Any, schema: Schema, *, path: str) -> Iterator[str]:
    match value:
        case Mapping():
            properties: Mapping[str, Schema] = schema.get("properties", {})
            for name, item in value.items():
                child = properties.get(name, schema.get("additionalProperties"))
                below = f"{path}.{name}" if path else name
                if child is not None:
                    yield from _unknown(item, child, path=below)
                elif not _keeps_unknown(schema):
                    yield below
        case list() if "items" in schema or not _keeps_unknown(schema):
            for index, item in enumerate(value):
                yield from _unknown(item, schema.get("items", {}), path=f"{path}[{index}]")
        case _:
            pass


def _keeps_unknown(schema: Schema) -> bool:
    return bool(schema.get(PRESERVE_UNKNOWN))
