"""``kubectl elasticep resume`` and ``explain``: the commands that need a cluster."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from elasticep.api import names
from elasticep.api.models import ConditionStatus, GroupStatus
from elasticep.api.reading import read_status
from elasticep.cli.account import account
from elasticep.kube.kubeconfig import access
from elasticep.kube.port import GROUPS, Kube, KubeError, NotFoundError

Command = Callable[[Kube, str, str], Awaitable[str]]
"""From a cluster, a namespace and a group's name to what is printed."""


def main(arguments: Sequence[str], *, program: str) -> int:
    """Carries out one command; returns the exit code."""
    parsed = _parser(program).parse_args(arguments)
    try:
        print(asyncio.run(_carry_out(parsed)))
    except NotFoundError as error:
        print(f"error: {_not_found(parsed, error)}", file=sys.stderr)
        return 1
    except KubeError as error:
        print(f"error: {error.message}", file=sys.stderr)
        return 1
    return 0


async def resume(kube: Kube, namespace: str, name: str) -> str:
    """Lift the last failure of a group, so that it is tried again at once.

    The annotation's value is compared, not read: any new one will do.
    """
    group = await kube.get(GROUPS, namespace, name)
    status = read_status(group)
    if status.failures is None:
        return f"{_title(name)} has no failure that could be lifted{_stalled(status)}"
    token = datetime.now(UTC).isoformat()
    annotated = {
        "apiVersion": names.API_VERSION,
        "kind": names.KIND,
        "metadata": {
            "name": name,
            "namespace": namespace,
            # Not one that was made since under the same name.
            "uid": group["metadata"]["uid"],
            "annotations": {names.ANNOTATION_RESUME: token},
        },
    }
    await kube.apply(GROUPS, annotated, manager=names.KUBECTL_FIELD_MANAGER)
    return f"{_title(name)} is tried again, after {status.failures.reason}"


async def explain(kube: Kube, namespace: str, name: str) -> str:
    """What a group does, what is in its way, and what to do."""
    return account(await kube.get(GROUPS, namespace, name), now=datetime.now(UTC))


def _parser(program: str) -> argparse.ArgumentParser:
    """The parser, whose result has in ``command`` what does the work."""
    top = argparse.ArgumentParser(prog=program)
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    group = f"name of the {names.KIND}"
    for name, command, words, what in (
        ("resume", resume, "try again what is not tried again by itself", group),
        (
            "explain",
            explain,
            "say what a group does, what is in its way, and what to do",
            f"{group}; a reason in its place is explained without a cluster",
        ),
    ):
        parser = commands.add_parser(name, description=f"{words[0].upper()}{words[1:]}.")
        parser.add_argument("name", metavar="NAME", help=what)
        parser.add_argument("-n", "--namespace", help="default: the context's")
        parser.add_argument("--context", help="a context of the kubeconfig; default: the current")
        parser.add_argument("--kubeconfig", help="default: $KUBECONFIG or ~/.kube/config")
        parser.set_defaults(command=command)
    return top


async def _carry_out(parsed: argparse.Namespace) -> str:
    way_in = await access(kubeconfig=parsed.kubeconfig, context=parsed.context)
    parsed.namespace = parsed.namespace or way_in.namespace
    command: Command = parsed.command
    try:
        return await command(way_in.kube, parsed.namespace, parsed.name)
    finally:
        await way_in.kube.close()


def _not_found(parsed: argparse.Namespace, error: NotFoundError) -> str:
    if error.reason == "NotFound":
        return f"there is no {names.KIND} {parsed.name!r} in namespace {parsed.namespace!r}"
    return f"the cluster does not know {names.KIND}: is elasticep installed in it?"


def _stalled(status: GroupStatus) -> str:
    stalled = status.condition("Stalled")
    if stalled is None or stalled.status is not ConditionStatus.TRUE:
        return ""
    return f"; it waits for something else: {stalled.message}"


def _title(name: str) -> str:
    return f"{names.PLURAL.removesuffix('s')}.{names.API_GROUP}/{name}"
