"""Refuses flags that are not the user's to pass, in Python and in CEL by one rule."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from elasticep.engine.owned_flags import FLAG_FAMILIES, REFUSED_VALUES

# The kubelet replaces $(NAME) in arguments, and could so make any flag of an allowed one.
_EXPANDED_FLAG = r"^(-[^=]*)?[$][(]"
_EXPANDED_FLAG_WHY = "could become any flag; write --flag=$(NAME) for a value from the environment"


@dataclass(frozen=True, kw_only=True)
class RefusedFlag:
    """One item of a list of arguments that may not be there."""

    index: int
    argument: str
    why: str
    """Why, and what to do instead; follows the flag in a sentence."""

    @property
    def message(self) -> str:
        """The whole sentence, without the argument's value, which may be a secret."""
        return f"{self.argument.partition('=')[0]} {self.why}"


def refused_flags(arguments: Sequence[str]) -> tuple[RefusedFlag, ...]:
    """The items that are refused, in their order; none when the arguments may be used."""
    return tuple(
        RefusedFlag(index=index, argument=argument, why=why)
        for index, argument in enumerate(arguments)
        if (why := _why_refused(argument)) is not None
    )


def owned_flags_cel() -> str:
    """A CEL expression over `self`, a list of strings: true when `refused_flags` finds none."""
    return f"!self.exists(a, {refused_flag_cel('a')})"


def refused_flag_cel(item: str) -> str:
    """A CEL expression: true when the string named `item` is refused.

    It keeps to the core of CEL and to cheap functions, so that the cost which the API server
    estimates stays low for long lists.
    """
    words = [word for family in FLAG_FAMILIES for word in family.words]
    beginnings = [beginning for family in FLAG_FAMILIES for beginning in family.beginnings]
    before_value = [f"{word}=" for word in words]
    after_flag = [f"={value}" for value in REFUSED_VALUES]
    return " || ".join(
        (
            f"{item} in {_cel_list([*words, *REFUSED_VALUES])}",
            f"{_cel_list([*beginnings, *before_value])}.exists(b, {item}.startsWith(b))",
            f"{_cel_list(after_flag)}.exists(v, {item}.endsWith(v))",
            f"{item}.matches('{_EXPANDED_FLAG}')",
        )
    )


def _why_refused(argument: str) -> str | None:
    if re.match(_EXPANDED_FLAG, argument):
        return _EXPANDED_FLAG_WHY
    flag = argument.partition("=")[0]
    for family in FLAG_FAMILIES:
        if flag in family.words or argument.startswith(family.beginnings):
            return family.why
    for value, why in REFUSED_VALUES.items():
        if argument == value or argument.endswith(f"={value}"):
            return why
    return None


def _cel_list(items: Sequence[str]) -> str:
    return "[" + ", ".join(f"'{item}'" for item in items) + "]"
