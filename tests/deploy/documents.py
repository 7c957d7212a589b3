"""The documents for people, and what stands in their fenced blocks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.deploy.repository import ROOT

_FENCE = re.compile(
    r"^(?:<!-- test: (?P<where>\w+) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, kw_only=True)
class Block:
    """One fenced block; `where` says in which tests it runs, if it does."""

    document: Path
    language: str
    text: str
    where: str | None


def documents() -> list[Path]:
    """Every Markdown file that a user or contributor is led to."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(document: Path) -> Iterator[Block]:
    """The fenced blocks of a document, in their order."""
    for found in _FENCE.finditer(document.read_text("utf-8")):
        yield Block(
            document=document,
            language=found["language"],
            text=found["text"],
            where=found["where"],
        )


def all_blocks(language: str) -> list[Block]:
    """The blocks of one language in all documents."""
    return [b for document in documents() for b in blocks(document) if b.language == language]


def name(document: Path) -> str:
    """The document's path from the root of the repository."""
    return document.relative_to(ROOT).as_posix()
