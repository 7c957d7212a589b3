"""YAML as kubectl reads it.

PyYAML follows YAML 1.1 to the letter, kubectl does not: to kubectl a date or ``1:30`` is a
string, ``1e3`` is a number and ``y`` is true. Both pass over a key that stands twice in a map;
here it is reported, since one of its two values was written in vain.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import yaml


class NotYamlError(Exception):
    """The text is not YAML; says where and why."""


@dataclass(frozen=True, kw_only=True)
class DuplicateKey:
    """A key that its map has already."""

    field: str
    """The path of the key."""
    key: str
    """The key itself."""
    line: int
    """Where it stands the second time, from 1."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """One document of a stream."""

    index: int
    """Its place in the stream, from 1; empty documents count."""
    content: Any
    """What it holds, as JSON would."""
    duplicates: tuple[DuplicateKey, ...]


def read_documents(text: str) -> Iterator[Document]:
    """The documents of ``text`` that are not empty.

    Raises:
        NotYamlError: one of them is broken; those before it have been given out.
    """
    index = 0
    try:
        loader = _Loader(text)
        while loader.check_node() and (node := loader.get_node()) is not None:
            index += 1
            # Before the document is made of it: merge keys are then replaced in the node.
            duplicates = tuple(_duplicates(node, path=""))
            content = _as_json(loader.construct_document(node))
            if content is not None:
                yield Document(index=index, content=content, duplicates=duplicates)
    except yaml.YAMLError as error:
        raise NotYamlError(" ".join(str(error).split())) from error
    except RecursionError as error:
        raise NotYamlError(f"document {index} is nested too deeply, or holds itself") from error


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML fills the class's own

    def construct_bool(self, node: yaml.ScalarNode) -> bool:
        return node.value.lower() in ("y", "yes", "true", "on")

    def construct_nothing(self, node: yaml.Node) -> NoReturn:
        raise yaml.constructor.ConstructorError(
            None, None, f"JSON has nothing like {node.tag}", node.start_mark
        )


_Loader.add_constructor("tag:yaml.org,2002:bool", _Loader.construct_bool)
for _tag in ("binary", "omap", "pairs", "set", "timestamp"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", _Loader.construct_nothing)

_ANY_DIGIT = "-+.0123456789"
for _tag, _first, _pattern in (
    ("bool", "yYtToO", r"(y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)"),
    ("bool", "nNfFoO", r"(n|N|no|No|NO|false|False|FALSE|off|Off|OFF)"),
    ("int", _ANY_DIGIT, r"[-+]?(0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]*|[1-9][0-9_]*)"),
    ("float", _ANY_DIGIT, r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"),
    ("float", _ANY_DIGIT, r"([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))"),
    ("null", ["~", "n", "N", ""], r"(~|null|Null|NULL|)"),
    ("merge", "<", r"<<"),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(rf"{_pattern}\Z"), list(_first)
    )


_INTEGER_BITS = 63
"""Larger numbers are no integers to the API server."""


def _as_json(value: Any) -> Any:
    """``value`` as it is after kubectl has turned it to JSON."""
    match value:
        case dict():
            return {_key(key): _as_json(item) for key, item in value.items()}
        case list():
            return [_as_json(item) for item in value]
        case int() if value.bit_length() > _INTEGER_BITS:
            return float(value)
        case float() if value.is_integer() and abs(value) < 2**_INTEGER_BITS:
            return int(value)
        case float() if not math.isfinite(value):
            raise NotYamlError(f"{value} is a number that JSON does not have")
        case _:
            return value


def _key(key: Any) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)


def _duplicates(node: yaml.Node, *, path: str) -> Iterator[DuplicateKey]:
    match node:
        case yaml.MappingNode():
            seen = set()
            for key, value in node.value:
                field = f"{path}.{key.value}" if path else str(key.value)
                if field in seen:
                    yield DuplicateKey(
                        field=field, key=str(key.value), line=key.start_mark.line + 1
                    )
                seen.add(field)
                yield from _duplicates(value, path=field)
        case yaml.SequenceNode():
            for index, item in enumerate(node.value):
                yield from _duplicates(item, path=f"{path}[{index}]")
        case _:
            pass
