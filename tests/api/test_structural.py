"""Models become the dialect of JSON schema that a CRD speaks."""

from enum import StrEnum
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from elasticep.schema.structural import structural_schema


class Colour(StrEnum):
    RED = "Red"
    BLUE = "Blue"


class Inner(BaseModel):
    """Words of the class."""

    size: Annotated[int, Field(ge=1)] = 1


class Outer(BaseModel):
    own: Annotated[Inner, Field(description="Words of the field.")]
    inherited: Inner | None = None
    colour: Colour = Colour.RED
    names: tuple[Annotated[str, Field(max_length=3)], ...] = ()


def test_references_are_resolved_and_the_fields_own_words_win() -> None:
    own = structural_schema(Outer, defaults=True)["properties"]["own"]
    assert own == {
        "type": "object",
        "description": "Words of the field.",
        "properties": {
            "size": {"type": "integer", "format": "int32", "minimum": 1, "default": 1},
        },
    }


def test_what_may_be_absent_is_not_required_and_not_nullable() -> None:
    schema = structural_schema(Outer, defaults=True)
    assert schema["required"] == ["own"]
    assert schema["properties"]["inherited"]["description"] == "Words of the class."
    assert "nullable" not in str(schema)


@pytest.mark.parametrize(("defaults", "colour"), [(True, {"default": "Red"}), (False, {})])
def test_defaults_are_shown_where_they_are_wanted(defaults: bool, colour: dict[str, Any]) -> None:
    properties = structural_schema(Outer, defaults=defaults)["properties"]
    assert properties["colour"].items() >= colour.items()
    assert ("default" in properties["colour"]) == defaults
    assert "default" not in properties["names"], "an empty list says nothing"


class Torn(BaseModel):
    value: int | list[str]


def test_a_choice_between_types_is_an_error_here_and_not_in_the_cluster() -> None:
    with pytest.raises(ValueError, match="needs one type"):
        structural_schema(Torn, defaults=True)
