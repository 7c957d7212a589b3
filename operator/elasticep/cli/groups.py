"""The ElasticEPGroups in the files that a command is given, and what is wrong with them."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, TextIO

from elasticep.api import names
from elasticep.cli.manifest import Document, NotYamlError, read_documents
from elasticep.schema.finding import Finding
from elasticep.schema.verdict import findings

STANDARD_INPUT = "-"


class ExitCode(IntEnum):
    """What a command's exit code means."""

    CLEAN = 0
    FINDINGS = 1
    """A group has errors."""
    UNUSABLE = 2
    """A file cannot be read or is not YAML, or no file holds a group."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A group that was found, and all that is wrong with it."""

    title: str
    """Where it stands and what it is called."""
    manifest: Mapping[str, Any]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, kw_only=True)
class OtherKind:
    """An object that is not a group."""

    title: str
    """Where it stands and what it is called."""


@dataclass(frozen=True, kw_only=True)
class Unusable:
    """A file, or a document in one, of which nothing can be made."""

    where: str
    why: str


Seen = Candidate | OtherKind | Unusable


def examine(files: Iterable[str]) -> Iterator[Seen]:
    """Everything that stands in ``files``, in order; ``-`` is standard input."""
    for file in files:
        try:
            for document in read_documents(_text(file)):
                yield from _examine_document(document, file=file)
        except OSError as error:
            yield Unusable(where=file, why=f"cannot be read: {error.strerror}")
        except UnicodeDecodeError:
            yield Unusable(where=file, why="is not text in UTF-8")
        except NotYamlError as error:
            yield Unusable(where=file, why=f"is not YAML: {error}")


def report(seen: Iterable[Seen], *, errors_to: TextIO) -> ExitCode:
    """Prints errors of groups to ``errors_to``, one a line, and the rest to standard error."""
    code = ExitCode.CLEAN
    groups = 0
    for item in seen:
        match item:
            case Candidate():
                groups += 1
                for each in item.findings:
                    code = max(code, ExitCode.FINDINGS)
                    print(f"{item.title}: {each.field}: {each.message}", file=errors_to)
            case OtherKind():
                print(f"{item.title}: passed over, not an {names.KIND}", file=sys.stderr)
            case Unusable():
                code = ExitCode.UNUSABLE
                print(f"{item.where}: {item.why}", file=sys.stderr)
    if not groups and code is ExitCode.CLEAN:
        print(f"no {names.KIND} found", file=sys.stderr)
        return ExitCode.UNUSABLE
    return code


def _text(file: str) -> str:
    if file == STANDARD_INPUT:
        return sys.stdin.read()
    return Path(file).read_text("utf-8")


def _examine_document(document: Document, *, file: str) -> Iterator[Seen]:
    where = f"{'<stdin>' if file == STANDARD_INPUT else file}:{document.index}"
    twice = tuple(
        Finding(field=twin.field, message=f'line {twin.line}: key "{twin.key}" already set in map')
        for twin in document.duplicates
    )
    for manifest in _objects(document.content):
        if not isinstance(manifest, dict) or not isinstance(manifest.get("kind"), str):
            yield Unusable(where=where, why="is not a Kubernetes object: it has no kind")
            continue
        title = f"{where}: {manifest['kind']}/{_name(manifest)}"
        if manifest["kind"] != names.KIND:
            yield OtherKind(title=title)
        else:
            yield Candidate(title=title, manifest=manifest, findings=(*twice, *_findings(manifest)))


def _objects(content: Any) -> list[Any]:
    """The objects of a document, which may be a list of them as ``kubectl get -o yaml`` prints."""
    if isinstance(content, dict) and str(content.get("kind")).endswith("List"):
        items = content.get("items")
        return items if isinstance(items, list) else []
    return [content]


def _findings(manifest: Mapping[str, Any]) -> tuple[Finding, ...]:
    version = manifest.get("apiVersion")
    if version != names.API_VERSION:
        words = f'no matches for kind "{names.KIND}" in version "{version}": write'
        return (Finding(field="apiVersion", message=f"{words} {names.API_VERSION}"),)
    return findings(manifest)


def _name(manifest: Mapping[str, Any]) -> str:
    metadata = manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return str(name or "(no name)")
