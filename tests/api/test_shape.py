"""Bounds that no field of the spec has at present, and the next one may."""

from elasticep.schema.shape import misshapen

STRATEGY = {"type": "string", "enum": ["Surge", "Restart"]}


def test_a_word_of_the_enumeration_fits() -> None:
    assert list(misshapen("Surge", STRATEGY, path="spec.strategy")) == []


def test_another_word_is_answered_with_those_that_fit() -> None:
    [found] = misshapen("Native", STRATEGY, path="spec.strategy")
    assert found.field == "spec.strategy"
    assert found.message == ('Unsupported value: "Native": supported values: "Surge", "Restart"')
    assert found.blocks_rules, "expressions may count on one of the known words"
