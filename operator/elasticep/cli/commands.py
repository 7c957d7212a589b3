"""The command line: which words there are, and what carries them out.

What a command needs is imported when it is called, so that ``--help`` and ``crd`` answer at once.
"""
# ruff: noqa: PLC0415

import argparse
import os
import sys
from collections.abc import Sequence

_FILES = "YAML files with any number of documents; - for standard input"
_EXIT_CODES = (
    "exit code: 0 all is well; 1 a group has errors; 2 a file cannot be read or is not YAML, or"
    " no file holds a group"
)


def main(arguments: Sequence[str], *, program: str, epilog: str | None = None) -> int:
    """Carries out one of the commands that need no cluster; returns the exit code."""
    parsed = _parser(program, epilog=epilog).parse_args(arguments)
    try:
        code: int = parsed.call(parsed)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough, as `head` does. Python would complain once more at its end.
        # https://docs.python.org/3/library/signal.html#note-on-sigpipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _parser(program: str, *, epilog: str | None) -> argparse.ArgumentParser:
    """The parser, whose result has in ``call`` what does the work."""
    top = argparse.ArgumentParser(
        prog=program,
        description="SGLang elastic expert-parallel groups on Kubernetes.",
        epilog=epilog,
    )
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for name, call, words in (
        ("lint", _lint, "say what is wrong with groups, in the words of the API server"),
        ("render", _render, "print every object that the operator would make for groups"),
    ):
        command = commands.add_parser(
            name, help=words, description=f"{words[0].upper()}{words[1:]}.", epilog=_EXIT_CODES
        )
        command.add_argument("files", nargs="+", metavar="FILE", help=_FILES)
        command.set_defaults(call=call)
    crd = commands.add_parser("crd", help="print the CustomResourceDefinition")
    crd.add_argument(
        "--format",
        choices=["yaml", "markdown"],
        default="yaml",
        help="yaml for a cluster, markdown for people (default: %(default)s)",
    )
    crd.set_defaults(call=_crd)
    explain = commands.add_parser("explain", help="say what a reason means, and what to do")
    explain.add_argument("reason", nargs="?", metavar="REASON", help="all of them when not given")
    explain.add_argument(
        "--format",
        choices=["text", "markdown"],
        default="text",
        help="markdown lists all reasons, for people (default: %(default)s)",
    )
    explain.set_defaults(call=_explain)
    return top


def _lint(parsed: argparse.Namespace) -> int:
    from elasticep.cli.lint import lint

    return lint(parsed.files)


def _render(parsed: argparse.Namespace) -> int:
    from elasticep.cli.render import render

    return render(parsed.files)


def _crd(parsed: argparse.Namespace) -> int:
    from elasticep.schema.crd import crd_yaml
    from elasticep.schema.reference import reference

    print(crd_yaml() if parsed.format == "yaml" else reference(), end="")
    return 0


def _explain(parsed: argparse.Namespace) -> int:
    from elasticep.cli import explain

    if parsed.format == "markdown":
        print(explain.markdown(), end="")
        return 0
    return explain.explain_word(parsed.reason) if parsed.reason else explain.explain_all()
