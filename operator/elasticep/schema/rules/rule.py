"""What one rule is, and the words that several rules share."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Reason(StrEnum):
    """How the API server classes a broken rule."""

    INVALID = "FieldValueInvalid"
    FORBIDDEN = "FieldValueForbidden"
    REQUIRED = "FieldValueRequired"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Something that must hold beyond types and bounds.

    Expressions keep to the core of CEL and ``format``: the API server evaluates them with cel-go,
    ``elasticep lint`` with an interpreter that lacks the extensions. Nor is there ``size`` of a
    string, which counts characters for the one and bytes for the other.
    """

    at: str
    """The part of the object that ``self`` is; ``[]`` stands for every item of a list, ``{}``
    for every value of a map."""
    holds: str
    """What must be true, in CEL."""
    message: str = ""
    """What to change, in plain words; or..."""
    message_expression: str = ""
    """...in CEL, when the words depend on the values."""
    field: str = ""
    """The field to point at, below ``at``."""
    reason: Reason = Reason.INVALID

    def as_validation(self) -> dict[str, Any]:
        """The rule as an item of ``x-kubernetes-validations``."""
        validation = {
            "rule": self.holds,
            "message": self.message,
            "messageExpression": self.message_expression,
            "reason": str(self.reason),
            "fieldPath": self.field,
        }
        return {key: value for key, value in validation.items() if value}


def literal(value: str | tuple[str, ...]) -> str:
    """``value`` as a CEL literal."""
    if isinstance(value, tuple):
        return f"[{', '.join(literal(item) for item in value)}]"
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def formatted(text: str, *values: str) -> str:
    """The CEL expression of ``text`` with ``values``, themselves expressions, for its ``%d``.

    Concatenation with ``string(int)`` says the same, but the API server takes its length for
    unbounded, and refuses the rule as too costly.
    """
    return f"{literal(text)}.format([{', '.join(values)}])"


_EDIT_ME = (
    r"(?i)(^|[^a-z0-9])"
    r"((set|change|replace|edit|fill)[-_ ]?(me|this)|todo|tbd|fixme|placeholder|x{3,}|your[-_ ].*)"
    r"([^a-z0-9]|$)"
)
_UNRENDERED = r"<.*>|\$\{|\{\{"
PLACEHOLDER = f"{_EDIT_ME}|{_UNRENDERED}"
"""Matches what people leave in manifests to be edited: SET-ME, CHANGE_ME, TODO, <name>, ${NAME}."""


def no_placeholder(*, at: str, instead: str) -> Rule:
    """A rule that the string at ``at`` is not one that was meant to be edited."""
    return Rule(
        at=at,
        holds=f"!self.matches({literal(PLACEHOLDER)})",
        message=f"this is a placeholder: write {instead}",
    )
