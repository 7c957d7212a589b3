"""The API server's verdict on an object, without an API server."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from elasticep.schema import finding
from elasticep.schema.crd import group_schema
from elasticep.schema.decoding import decoded, unknown_fields
from elasticep.schema.evaluation import broken_rules
from elasticep.schema.finding import Finding
from elasticep.schema.shape import misshapen
from elasticep.schema.structural import Schema

_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_SUBDOMAIN_WORDS = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or"
    " '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used"
    f" for validation is '{_SUBDOMAIN}')"
)


def findings(group: Mapping[str, Any]) -> tuple[Finding, ...]:
    """All that is wrong with ``group``; empty when the API server would take it.

    As there, rules are judged only once types and bounds are right.
    """
    schema = _schema()
    unknown = [finding.unknown(path) for path in unknown_fields(group, schema)]
    group = as_stored(group)
    found = [*misshapen(group, schema, path=""), *_name_findings(group)]
    if not any(each.blocks_rules for each in found):
        found += broken_rules(group, schema, path="")
    return (*unknown, *found)


def as_stored(group: Mapping[str, Any]) -> dict[str, Any]:
    """``group`` as the API server would store it: defaults filled in, nulls dropped.

    The status is dropped too: what a user writes there is never kept, hence never wrong.
    """
    stored: dict[str, Any] = decoded(group, _schema())
    stored.pop("status", None)
    return stored


@cache
def _schema() -> Schema:
    return group_schema()


def _name_findings(group: Mapping[str, Any]) -> Iterator[Finding]:
    """What holds for the name of any object."""
    metadata = group.get("metadata", {})
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    if not name:
        yield finding.required("metadata.name", "name or generateName is required")
    elif isinstance(name, str) and not re.fullmatch(_SUBDOMAIN, name):
        yield finding.invalid("metadata.name", name, _SUBDOMAIN_WORDS)
