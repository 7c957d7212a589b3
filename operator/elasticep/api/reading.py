"""From what the API server holds to the models, without trust in either.

Admission has checked the object, but by the rules of its day: it may have been stored before a
bound was added, or under the CRD of another release.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from elasticep.api.models import GroupSpec, GroupStatus


class SpecUnreadableError(Exception):
    """The object's spec is not one that the operator can act on."""

    def __init__(self, *, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        """The field, as ``spec.leader.ranks``."""
        self.message = message
        """What is wrong with it."""


def read_spec(group: Mapping[str, Any]) -> GroupSpec:
    """The spec of ``group``.

    Raises:
        SpecUnreadableError: a field is missing, of the wrong type or out of bounds.
    """
    try:
        return GroupSpec.model_validate(group.get("spec"))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        raise SpecUnreadableError(
            field=_path("spec", first["loc"]), message=first["msg"]
        ) from error


def read_status(group: Mapping[str, Any]) -> GroupStatus:
    """The status of ``group``; an empty one when there is none, or none that can be read.

    The operator then finds out again what it had known.
    """
    try:
        return GroupStatus.model_validate(group.get("status") or {})
    except ValidationError:
        return GroupStatus()


def _path(root: str, location: tuple[int | str, ...]) -> str:
    """The field at ``location`` in the API server's spelling: ``spec.engine.args[2]``."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return root + "".join(steps)
