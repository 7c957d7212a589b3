"""What the process is told: by flags, or by the environment where a flag is not given."""

import argparse
import secrets
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_LEVELS = ("debug", "info", "warning", "error")
_LEVELS_IN_WORDS = f"{', '.join(_LEVELS[:-1])} or {_LEVELS[-1]}"
_DEFAULT = " (default: %(default)s)"
_NAMESPACE_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One value for each question."""

    namespaces: tuple[str, ...]
    """Where to look after groups; everywhere when empty."""
    host: str
    health_port: int
    metrics_port: int
    """May be the health port: one server then has all routes."""
    leader_election: bool
    lease_namespace: str
    lease_name: str
    identity: str
    """This process, among all that may run at once."""
    log_level: str
    workers: int
    resync_seconds: float


def read_settings(arguments: Sequence[str], environment: Mapping[str, str]) -> Settings:
    """The settings that a command line and an environment make.

    A Deployment gives its pods names that are never used again, and a container starts only when
    its predecessor has ended: the pod's name is an identity under which a restarted container
    goes on with its own Lease.

    Raises:
        SystemExit: the command line is not understood; the reason is on standard error.
    """
    options = _parser(environment).parse_args(arguments)
    health_port: int = options.health_port
    return Settings(
        namespaces=tuple(options.namespace or _names(environment.get("ELASTICEP_NAMESPACES", ""))),
        host=options.host,
        health_port=health_port,
        metrics_port=options.metrics_port if options.metrics_port is not None else health_port,
        leader_election=options.leader_election,
        lease_namespace=options.lease_namespace or _own_namespace(environment),
        lease_name=options.lease_name,
        identity=environment.get("POD_NAME") or f"{socket.gethostname()}-{secrets.token_hex(4)}",
        log_level=options.log_level,
        workers=options.workers,
        resync_seconds=options.resync_seconds,
    )


def _parser(environment: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="elasticep run",
        description="Look after the ElasticEPGroups of a cluster.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--namespace",
        action="append",
        metavar="NAMESPACE",
        help="look only here; may be repeated; otherwise $ELASTICEP_NAMESPACES, with commas, or "
        "every namespace",
    )
    parser.add_argument(
        "--workers", type=_at_least_one, default=16, help=f"groups at once{_DEFAULT}"
    )
    parser.add_argument(
        "--resync-seconds",
        type=_at_least_one,
        default=300,
        help=f"how often every group is looked at even if nothing seems to have happened{_DEFAULT}",
    )
    parser.add_argument(
        "--log-level",
        type=_level,
        metavar="LEVEL",
        default=environment.get("ELASTICEP_LOG_LEVEL", "info"),
        help=f"{_LEVELS_IN_WORDS}; otherwise $ELASTICEP_LOG_LEVEL{_DEFAULT}",
    )
    _add_servers(parser)
    _add_lease(parser)
    return parser


def _add_servers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="", help="address to serve on; all when not given")
    parser.add_argument(
        "--health-port", type=int, default=8080, help=f"/healthz and /readyz{_DEFAULT}"
    )
    parser.add_argument("--metrics-port", type=int, help="/metrics; the health port if not given")


def _add_lease(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--leader-election",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="act only while holding the Lease, as is the default; without it no second process "
        "may run",
    )
    parser.add_argument(
        "--lease-namespace", help="otherwise $POD_NAMESPACE, or that of the service account"
    )
    parser.add_argument(
        "--lease-name", default="elasticep-operator", help=f"the Lease's name{_DEFAULT}"
    )


def _level(text: str) -> str:
    """A level; not argparse's ``choices``, which do not judge what the environment says."""
    level = text.lower()
    if level not in _LEVELS:
        raise argparse.ArgumentTypeError(f"{text!r} is no log level: give {_LEVELS_IN_WORDS}")
    return level


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is too small or no whole number: give 1 or more"
        )
    return int(text)


def _names(text: str) -> list[str]:
    return [name for part in text.split(",") if (name := part.strip())]


def _own_namespace(environment: Mapping[str, str]) -> str:
    if name := environment.get("POD_NAMESPACE"):
        return name
    try:
        return _NAMESPACE_FILE.read_text("utf-8").strip()
    except FileNotFoundError:
        return "default"
