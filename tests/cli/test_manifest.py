"""YAML is read as kubectl reads it, whatever PyYAML would make of it."""

from typing import Any

import pytest

from elasticep.cli.manifest import DuplicateKey, NotYamlError, read_documents


def value_of(text: str) -> Any:
    (document,) = read_documents(f"value: {text}\n")
    return document.content["value"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("3.0", 3),
        ("1e3", 1000),
        ("2.5", 2.5),
        ("0x10", 16),
        ("010", 8),
        ("1_000", 1000),
        ("1:30", "1:30"),
        ("2026-03-04", "2026-03-04"),
        ("0.5.19", "0.5.19"),
        ("y", True),
        ("Off", False),
        ("yEs", "yEs"),
        ("~", None),
        ("", None),
        ("18446744073709551616", 18446744073709551616.0),
        ("'3'", "3"),
        ("!!str 3", "3"),
        ("{3: a, true: b}", {"3": "a", "true": "b"}),
        ("[1, [2.0]]", [1, [2]]),
    ],
)
def test_a_scalar_is_what_kubectl_sends(text: str, value: Any) -> None:
    read = value_of(text)
    assert (read, type(read)) == (value, type(value))


def test_anchors_and_merge_keys_are_followed() -> None:
    (document,) = read_documents("a: &a {c: 1, d: 2}\nb: {<<: *a, d: 3}\n")
    assert document.content["b"] == {"c": 1, "d": 3}
    assert document.duplicates == ()


def test_documents_are_counted_and_empty_ones_left_out() -> None:
    documents = list(read_documents("a: 1\n---\n---\n# nothing\n---\nb: 2\n"))
    assert [(document.index, document.content) for document in documents] == [
        (1, {"a": 1}),
        (4, {"b": 2}),
    ]


def test_a_key_that_stands_twice_is_found_at_any_depth() -> None:
    (document,) = read_documents("a:\n  - b: 1\n    c: 2\n    b: 3\n")
    assert document.duplicates == (DuplicateKey(field="a[0].b", key="b", line=4),)


@pytest.mark.parametrize(
    "text",
    [
        "a: [",
        "a: b: c",
        "a: *nowhere",
        "&a [*a]",
        "!!python/object:os.system {}",
        "\t- a",
        "a: \x00",
        "a: .nan",
        "a: !!set {b}",
    ],
)
def test_what_is_not_yaml_is_named_so(text: str) -> None:
    with pytest.raises(NotYamlError):
        list(read_documents(text))
