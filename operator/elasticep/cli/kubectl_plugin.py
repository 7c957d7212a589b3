"""``kubectl elasticep``: the offline commands where people look for them, and two with a cluster.

kubectl runs this for ``kubectl elasticep``, with what follows as arguments. Its own options must
come after the command: https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins/
"""

import sys

from elasticep.cli import commands

_PROGRAM = "kubectl elasticep"
_WITH_CLUSTER = (
    f"{_PROGRAM} explain NAME says the same of a group: what it does, what is in its way, and "
    f"what to do; {_PROGRAM} resume NAME tries again what is not tried again by itself. "
    "Both take --namespace, --context and --kubeconfig."
)


def main() -> int:
    """Carries out one command; returns the exit code."""
    arguments = sys.argv[1:]
    if _asks_cluster(arguments):
        from elasticep.cli import cluster_commands  # noqa: PLC0415 - loads the client

        return cluster_commands.main(arguments, program=_PROGRAM)
    return commands.main(arguments, program=_PROGRAM, epilog=_WITH_CLUSTER)


def _asks_cluster(arguments: list[str]) -> bool:
    """Whether a group is meant: its name has no capitals, and every reason has."""
    match arguments:
        case ["resume", *_]:
            return True
        case ["explain", *rest] if "--format" not in rest:
            named = [word for word in rest if not word.startswith("-")]
            return (
                any(word == word.lower() for word in named) or {"-h", "--help"} & {*rest} != set()
            )
        case _:
            return False
