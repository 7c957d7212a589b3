import pytest

from elasticep.engine.owned_flags import FLAG_FAMILIES, FlagFamily


@pytest.mark.parametrize("family", FLAG_FAMILIES, ids=lambda family: family.spellings[0])
def test_every_spelling_of_a_family_is_refused(family: FlagFamily) -> None:
    for spelling in family.spellings:
        assert any(
            spelling in other.words or spelling.startswith(other.beginnings)
            for other in FLAG_FAMILIES
        )


@pytest.mark.parametrize("family", FLAG_FAMILIES, ids=lambda family: family.spellings[0])
def test_nothing_is_refused_that_no_spelling_begins_with(family: FlagFamily) -> None:
    for start in (*family.beginnings, *family.words):
        assert any(spelling.startswith(start) for spelling in family.spellings)


def test_a_spelling_belongs_to_one_family() -> None:
    spellings = [spelling for family in FLAG_FAMILIES for spelling in family.spellings]
    assert len(set(spellings)) == len(spellings)


def test_no_beginning_swallows_every_flag() -> None:
    for family in FLAG_FAMILIES:
        assert all(len(beginning.lstrip("-")) > 0 for beginning in family.beginnings)
