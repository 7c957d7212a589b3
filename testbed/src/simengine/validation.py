"""Validation errors of pydantic, said so that their reader knows what to change."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import ValidationError


def explain(error: ValidationError, *, name_of: Callable[[str], str] = str) -> str:
    """One line per problem: where it stands, what is wrong, what was given.

    `name_of` turns the first part of the place, a field, into the word its writer used.
    """
    return "\n".join(
        f"{_place(problem['loc'], name_of)}: {problem['msg']} (given: {problem['input']!r})"
        for problem in error.errors(include_url=False)
    )


def _place(parts: tuple[int | str, ...], name_of: Callable[[str], str]) -> str:
    place = ""
    for position, part in enumerate(parts):
        if isinstance(part, int):
            place += f"[{part}]"
        elif position == 0:
            place += name_of(part)
        else:
            place += f".{part}" if place else part
    return place
