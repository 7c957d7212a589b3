"""Whether an object has the types and bounds of a structural schema."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from elasticep.schema import finding
from elasticep.schema.finding import Finding
from elasticep.schema.structural import INT_OR_STRING, Schema

_TYPES: tuple[tuple[str, type], ...] = (
    ("boolean", bool),
    ("integer", int),
    ("number", float),
    ("string", str),
    ("array", list),
    ("object", Mapping),
)


def misshapen(value: Any, schema: Schema, *, path: str) -> Iterator[Finding]:
    """All that ``schema`` has against ``value``, but for its rules."""
    if "enum" in schema and value not in schema["enum"]:
        yield finding.unsupported(path, value, schema["enum"])
    complaint = _wrong_type(value, schema, path=path)
    if complaint is not None:
        yield complaint
    match value:
        case bool():
            pass
        case int() | float():
            # Of a fraction where a whole number is wanted, the bounds are checked too.
            yield from _number(value, schema, path=path)
        case _ if complaint is not None:
            pass
        case str():
            yield from _string(value, schema, path=path)
        case list():
            yield from _list(value, schema, path=path)
        case Mapping():
            yield from _object(value, schema, path=path)
        case _:
            pass


def _wrong_type(value: Any, schema: Schema, *, path: str) -> Finding | None:
    wanted, found = schema.get("type"), _type_of(value)
    if schema.get(INT_OR_STRING):
        fits, wanted = found in ("integer", "string"), "integer,string"
    else:
        fits = found == wanted
    if fits or wanted is None:
        return None
    if wanted == "integer" and found not in ("string", "array", "null"):
        # Of a number with a format, the API server compares the formats and names those.
        wanted, found = schema["format"], "float64" if found == "number" else ""
    return finding.wrong_type(path, wanted=wanted, found=found)


def _type_of(value: Any) -> str:
    # bool comes before int, which it is too.
    for name, types in _TYPES:
        if isinstance(value, types):
            return name
    return "null"


def _number(value: float, schema: Schema, *, path: str) -> Iterator[Finding]:
    if value < schema.get("minimum", value):
        words = f"{path} in body should be greater than or equal to {schema['minimum']}"
        yield finding.invalid(path, value, words)
    if value > schema.get("maximum", value):
        words = f"{path} in body should be less than or equal to {schema['maximum']}"
        yield finding.invalid(path, value, words)


def _string(value: str, schema: Schema, *, path: str) -> Iterator[Finding]:
    if len(value) > schema.get("maxLength", len(value)):
        yield finding.too_long(path, schema["maxLength"])
    if len(value) < schema.get("minLength", 0):
        words = f"{path} in body should be at least {schema['minLength']} chars long"
        yield finding.invalid(path, value, words)
    pattern = schema.get("pattern")
    if pattern is not None and not re.search(_python_pattern(pattern), value):
        yield finding.invalid(path, value, f"{path} in body should match '{pattern}'")


def _python_pattern(pattern: str) -> str:
    r"""``$`` of Go is ``\Z`` of Python, whose own ``$`` lets a newline through."""
    return f"{pattern[:-1]}\\Z" if pattern.endswith("$") else pattern


def _list(value: list[Any], schema: Schema, *, path: str) -> Iterator[Finding]:
    if len(value) > schema.get("maxItems", len(value)):
        yield finding.too_many(path, count=len(value), limit=schema["maxItems"])
    if len(value) < schema.get("minItems", 0):
        words = f"{path} in body should have at least {schema['minItems']} items"
        yield finding.invalid(path, len(value), words)
    for index, item in enumerate(value):
        yield from misshapen(item, schema["items"], path=f"{path}[{index}]")
    yield from _duplicates(value, schema, path=path)


def _duplicates(value: list[Any], schema: Schema, *, path: str) -> Iterator[Finding]:
    """The second occurrence of each item, or of its key; the API server passes over a third."""
    identities: list[Any] = value
    match schema.get("x-kubernetes-list-type"):
        case "set":
            pass
        case "map":
            not_objects = [item for item in value if not isinstance(item, Mapping | None)]
            if not_objects:
                index = value.index(not_objects[0])
                words = "must be an object for an array of list-type map"
                yield finding.invalid(f"{path}[{index}]", not_objects[0], words)
                return
            keys = schema["x-kubernetes-list-map-keys"]
            identities = [{key: item[key] for key in keys if key in (item or {})} for item in value]
        case _:
            return
    seen: list[Any] = []
    for index, identity in enumerate(identities):
        if seen.count(identity) == 1:
            yield finding.duplicate(f"{path}[{index}]", identity)
        seen.append(identity)


def _object(value: Mapping[str, Any], schema: Schema, *, path: str) -> Iterator[Finding]:
    if len(value) > schema.get("maxProperties", len(value)):
        yield finding.too_many(path, count=len(value), limit=schema["maxProperties"])
    properties: Mapping[str, Schema] = schema.get("properties", {})
    for name, item in value.items():
        child = properties.get(name) or schema.get("additionalProperties")
        if child is not None:
            yield from misshapen(item, child, path=f"{path}.{name}" if path else name)
    for name in schema.get("required", []):
        if name not in value:
            yield finding.required(f"{path}.{name}" if path else name)
