"""``kubectl elasticep``: the commands that need no cluster, where people look for them."""

import sys

from elasticep.cli import commands


def main() -> int:
    """Carries out one command; returns the exit code."""
    return commands.main(sys.argv[1:], program="kubectl elasticep")
