"""What every model of the API is made of: the base class and the shapes its fields share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetCoreSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, core_schema


class ApiModel(BaseModel):
    """A part of the object: camelCase outside, snake_case inside, immutable.

    The docstring under a field is its description, which ``kubectl explain`` prints.
    Unknown fields are let through: an operator may be older than the CRD beside it.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        frozen=True,
        extra="ignore",
        use_attribute_docstrings=True,
    )

    def changed(self, **changes: Any) -> Self:
        """The same with other values in some fields, which are cut and checked like any."""
        known = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**{**known, **changes})


class OpenModel(ApiModel):
    """A part of the object of which only some fields are described; the others are kept."""

    model_config = ConfigDict(extra="allow")


@dataclass(frozen=True)
class ShapedAs:
    """Annotation: the value stays the dictionary that the user wrote, and must fit ``model``.

    For parts that are handed on to Kubernetes as they are: reading them into a model and back
    would lose what the model does not know.
    """

    model: type[BaseModel]

    def __get_pydantic_core_schema__(
        self, _source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """The model's own schema, whose result is thrown away for the raw value."""
        return core_schema.no_info_wrap_validator_function(
            _checked_and_raw,
            handler.generate_schema(self.model),
            serialization=core_schema.plain_serializer_function_ser_schema(lambda raw: raw),
        )


def _checked_and_raw(raw: Any, check: Callable[[Any], object]) -> Any:
    check(raw)
    return raw


def cut_to(limit: int) -> BeforeValidator:
    """Annotation: longer text is cut, not refused, since a report must not fail for its length."""

    def cut(value: object) -> object:
        if isinstance(value, str) and len(value) > limit:
            return f"{value[: limit - 1]}…"
        return value

    return BeforeValidator(cut)


Word = Annotated[str, cut_to(253), Field(max_length=253)]
"""A name of something in Kubernetes, a CamelCase reason, a word of the engine's."""

Sentence = Annotated[str, cut_to(1024), Field(max_length=1024)]
"""Prose that the operator reports."""

Excerpt = Annotated[str, cut_to(4096), Field(max_length=4096)]
"""The end of a log."""


def list_map(*keys: str) -> dict[str, Any]:
    """Schema marks of a list whose items are told apart by ``keys``: owners merge in it."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}


LIST_SET: dict[str, Any] = {"x-kubernetes-list-type": "set"}
"""Schema marks of a list in which nothing stands twice."""

LIST_ATOMIC: dict[str, Any] = {"x-kubernetes-list-type": "atomic"}
"""Schema marks of a list that is replaced as a whole, because its order counts."""

INT64: dict[str, Any] = {"format": "int64"}
"""Schema mark of an integer that may pass 2^31; the others are int32."""
