"""The tables of reasons in docs/troubleshooting.md, made from the words themselves.

`python tests/deploy/reason_tables.py` writes them there.
"""

from collections.abc import Iterable, Iterator

from repository import ROOT

from elasticep.api.reasons import TOPICS
from elasticep.engine.crash_signatures import SIGNATURES

DOCUMENT = ROOT / "docs" / "troubleshooting.md"
MARK = "<!-- Generated from here on by `make crd`. Do not edit. -->\n"

_HEAD = "| reason | what it means | what to do |\n|---|---|---|"


def tables() -> str:
    """One section for each topic, and one for what the engine's last words lead to."""
    return "\n\n".join(_sections()) + "\n"


def _sections() -> Iterator[str]:
    for topic in TOPICS:
        rows = [(str(word), word.meaning, word.advice) for word in topic]
        yield _section(str(topic.__doc__), rows)
    found = {s.reason: (s.reason, s.meaning, s.advice) for s in SIGNATURES}
    yield _section("The engine's last words tell why it ended.", found.values())


def _section(title: str, rows: Iterable[tuple[str, str, str]]) -> str:
    lines = [f"| `{word}` | {_cell(meaning)} | {_cell(advice)} |" for word, meaning, advice in rows]
    return "\n".join([f"### {title.splitlines()[0].rstrip('.')}", "", _HEAD, *lines])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<")


def main() -> None:
    """Write the tables into the document."""
    head, mark, _ = DOCUMENT.read_text("utf-8").partition(MARK)
    DOCUMENT.write_text(head + mark + "\n" + tables(), "utf-8")


if __name__ == "__main__":
    main()
