"""Judges CEL rules as the API server would."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import cel

from elasticep.schema import finding
from elasticep.schema.finding import Finding
from elasticep.schema.rules import Reason
from elasticep.schema.structural import Schema


def broken_rules(value: Any, schema: Schema, *, path: str) -> Iterator[Finding]:
    """A finding for each rule of ``schema``, at whatever depth, that ``value`` breaks.

    The value must have the schema's types and bounds: expressions rely on them.
    """
    for rule in schema.get("x-kubernetes-validations", []):
        if not _evaluate(rule["rule"], value):
            yield _broken(rule, value, path=path)
    match value:
        case Mapping():
            properties: Mapping[str, Schema] = schema.get("properties", {})
            for name, item in value.items():
                if name in properties:
                    child = f"{path}.{name}" if path else name
                    yield from broken_rules(item, properties[name], path=child)
                elif "additionalProperties" in schema:
                    child = f"{path}[{name}]"
                    yield from broken_rules(item, schema["additionalProperties"], path=child)
        case list() if "items" in schema:
            for index, item in enumerate(value):
                yield from broken_rules(item, schema["items"], path=f"{path}[{index}]")
        case _:
            pass


def _broken(rule: Mapping[str, str], value: Any, *, path: str) -> Finding:
    field = (path + rule.get("fieldPath", "")).removeprefix(".")
    expression = rule.get("messageExpression")
    message = rule["message"] if expression is None else _evaluate(expression, value)
    match rule["reason"]:
        case Reason.FORBIDDEN:
            return finding.forbidden(field, message)
        case Reason.REQUIRED:
            return finding.required(field, message)
        case _:
            return finding.against_rule(field, value, message)


def _evaluate(expression: str, value: Any) -> Any:
    context = cel.Context(variables={"self": value}, functions={"format": _format})
    return _program(expression).execute(context)


@cache
def _program(expression: str) -> cel.Program:
    return cel.compile(expression)


def _format(text: str, values: list[Any]) -> str:
    """``format`` of Kubernetes' CEL, for ``%d`` and ``%s``."""
    return text % tuple(values)
