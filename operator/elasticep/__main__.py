"""The ``elasticep`` command; ``python -m elasticep`` is the same."""

import sys

from elasticep.cli import commands

_RUN = "elasticep run starts the operator; elasticep run --help says how."


def main() -> int:
    """Carries out one command; returns the exit code."""
    match sys.argv[1:]:
        case ["run", *arguments]:
            from elasticep.run import process  # noqa: PLC0415 - loads every client

            return process.main(arguments)
        case arguments:
            return commands.main(arguments, program="elasticep", epilog=_RUN)


if __name__ == "__main__":
    sys.exit(main())
