"""The options of a real parser, and values to try them with."""

from collections.abc import Sequence
from typing import Any

from elasticep.engine.owned_flags import FLAG_FAMILIES

OWNED_SPELLINGS = frozenset(spelling for family in FLAG_FAMILIES for spelling in family.spellings)

Option = dict[str, Any]


def is_owned(option: Option) -> bool:
    return not OWNED_SPELLINGS.isdisjoint(option["spellings"])


def uses(option: Option) -> list[tuple[str, ...]]:
    """Ways to pass the option: every spelling that takes no value, or several values."""
    if option["nargs"] == 0:
        return [(spelling,) for spelling in option["spellings"]]
    return [(option["spellings"][0], value) for value in _values(option)]


def _values(option: Option) -> Sequence[str]:
    if option["choices"]:
        return [choice for choice in option["choices"] if choice != option["default"]]
    match option["type"]:
        case "int" | "human_readable_int":
            return ["2", "1", "4", "0"]
        case "float":
            return ["0.5", "2.0"]
    return ["text", '{"key": 1}']
