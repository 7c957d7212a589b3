"""What is wrong with an object, in the words of the API server.

The phrases are those of k8s.io/apimachinery's field errors, so that a message that was seen in
one place is recognised in the other.
https://pkg.go.dev/k8s.io/apimachinery/pkg/util/validation/field
"""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, order=True)
class Finding:
    """One thing that is wrong."""

    field: str
    """Where, such as ``spec.engine.args[2]``."""
    message: str
    """What, and what to write instead."""
    blocks_rules: bool = False
    """Whether rules cannot be judged before it is mended, as their expressions would fail."""


def invalid(field: str, value: Any, detail: str) -> Finding:
    """The value is out of bounds."""
    return Finding(field=field, message=f"Invalid value: {_printed(value)}: {detail}")


def against_rule(field: str, value: Any, detail: str) -> Finding:
    """The value breaks a rule; objects and lists are not printed."""
    if isinstance(value, dict | list):
        return Finding(field=field, message=f"Invalid value: {detail}")
    return invalid(field, value, detail)


def wrong_type(field: str, *, wanted: str, found: str) -> Finding:
    """The value is of another type."""
    quoted = _printed(found)
    return Finding(
        field=field,
        message=f"Invalid value: {quoted}: {field} in body must be of type {wanted}: {quoted}",
        blocks_rules=True,
    )


def required(field: str, detail: str = "") -> Finding:
    """The field is missing."""
    message = f"Required value: {detail}" if detail else "Required value"
    return Finding(field=field, message=message, blocks_rules=True)


def forbidden(field: str, detail: str) -> Finding:
    """The field may not be set."""
    return Finding(field=field, message=f"Forbidden: {detail}")


def duplicate(field: str, value: Any) -> Finding:
    """The value, or the key of the item, has occurred before in the list."""
    return Finding(field=field, message=f"Duplicate value: {_printed(value)}")


def unsupported(field: str, value: Any, supported: list[Any]) -> Finding:
    """The value is none of an enumeration."""
    words = ", ".join(_printed(str(each)) for each in supported)
    return Finding(
        field=field,
        message=f"Unsupported value: {_printed(value)}: supported values: {words}",
        blocks_rules=True,
    )


def too_long(field: str, limit: int) -> Finding:
    """The string has more characters than it may; the API server calls them bytes."""
    return Finding(
        field=field,
        message=f"Too long: may not be more than {limit} bytes",
        blocks_rules=True,
    )


def too_many(field: str, *, count: int, limit: int) -> Finding:
    """The list or map has more items than it may."""
    return Finding(
        field=field,
        message=f"Too many: {count}: must have at most {limit} items",
        blocks_rules=True,
    )


def unknown(field: str) -> Finding:
    """There is no such field; it would be dropped without a word."""
    return Finding(field=field, message=f'unknown field "{field}"')


_GO_ESCAPES = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>&"})
"""Go's JSON is made to stand in HTML unharmed."""


def _printed(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return text.translate(_GO_ESCAPES) if isinstance(value, dict | list) else text
