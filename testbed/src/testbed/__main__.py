"""The `testbed` command."""

import argparse
import sys
from collections.abc import Sequence

from testbed.addresses import MOST_NODES
from testbed.cluster import Cluster
from testbed.errors import TestbedError
from testbed.lifecycle import down, load, up
from testbed.packages import install_packages
from testbed.places import Places
from testbed.progress import open_report
from testbed.status import print_status

_DEFAULT_NODES = 3
# The oldest and the newest that the operator knows, so that there is something to roll out.
_DEFAULT_ENGINE_VERSIONS = ("0.5.19", "0.5.23")


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line says; the answer is the exit code."""
    options = _parser().parse_args(argv)
    places = Places.from_environment()
    try:
        return _run(options, places=places)
    except TestbedError as error:
        print(f"testbed {options.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"testbed {options.command}: interrupted", file=sys.stderr)
        return 130


def _run(options: argparse.Namespace, *, places: Places) -> int:
    match options.command:
        case "kubeconfig":
            print(Cluster.running(places).kubeconfig)
            return 0
        case "status":
            return print_status(places)
    with open_report() as report:
        match options.command:
            case "packages":
                install_packages(places=places, report=report)
            case "up":
                up(
                    places=places,
                    report=report,
                    nodes=options.nodes,
                    engine_versions=() if options.bare else options.engine_versions,
                )
            case "load":
                load(places=places, report=report)
            case "down":
                down(places=places, report=report)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="testbed", description="A real Kubernetes cluster with GPU nodes on this machine."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("packages", help="install the system packages that are missing")
    starts = commands.add_parser("up", help="bring a cluster up, building what is needed")
    starts.add_argument("--nodes", type=_node_count, default=_DEFAULT_NODES, metavar="N")
    starts.add_argument("--bare", action="store_true", help="without the project's images")
    starts.add_argument(
        "--engine-versions",
        type=lambda text: tuple(text.split(",")),
        default=_DEFAULT_ENGINE_VERSIONS,
        metavar="V,V",
        help=f"SGLang versions to simulate (default: {','.join(_DEFAULT_ENGINE_VERSIONS)})",
    )
    commands.add_parser("load", help="build the project's images and put them on the nodes")
    commands.add_parser("status", help="say what is up; exit code 1 when the cluster is not")
    commands.add_parser("kubeconfig", help="print the path of the kubeconfig")
    commands.add_parser("down", help="end everything; the cache stays")
    return parser


def _node_count(text: str) -> int:
    count = int(text)
    if not 1 <= count <= MOST_NODES:
        raise argparse.ArgumentTypeError(f"from 1 to {MOST_NODES}")
    return count


if __name__ == "__main__":
    sys.exit(main())
