"""The acts of the demo; each one does one thing to the cluster and says when it is done."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from typing import Any

from rich.console import Console

from demo.diagnosis import DemoError
from demo.picture import open_picture
from demo.scene import Scene, happened_at, of_group, read_scene
from demo.watch import Change, watch
from demo.web import ask
from elasticep.api import names
from testbed.addresses import HOST, RESOLVER_PORT
from testbed.api import Api
from testbed.cluster import Cluster
from testbed.errors import TestbedError
from testbed.lifecycle import load, up
from testbed.places import Places
from testbed.progress import Report

NODES = 3
ENGINE_VERSIONS = ("0.5.19", "0.5.23")
"""The one that the example asks for, and one to roll out."""

NAMESPACE = "default"
GROUP = "deepseek-v2-lite"
OPERATOR = "elasticep-operator"
OPERATOR_NAMESPACE = "elasticep-system"
BASE = Path("deploy/kustomize/base")
EXAMPLE = Path("deploy/examples/deepseek-v2-lite.yaml")

_GROUPS = f"/apis/{names.API_VERSION}/namespaces/{NAMESPACE}/{names.PLURAL}"
_PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
_EVENTS = f"/apis/events.k8s.io/v1/namespaces/{NAMESPACE}/events"
_GLANCE_SECONDS = 0.25
_RESOLVER_SECONDS = 900.0


def boot(places: Places, report: Report) -> Cluster:
    """A cluster is up, with the operator and the engine as the source is now on its nodes."""
    try:
        Cluster.running(places)
    except TestbedError:
        up(places=places, report=report, nodes=NODES, engine_versions=ENGINE_VERSIONS)
        return Cluster.running(places)
    up(places=places, report=report, nodes=NODES, engine_versions=ENGINE_VERSIONS)
    load(places=places, report=report, engine_versions=ENGINE_VERSIONS)
    return Cluster.running(places)


def await_resolver(report: Report, *, version: str = ENGINE_VERSIONS[0]) -> None:
    """The argument resolver of an SGLang release has its first verdict behind it.

    On a new machine it first installs SGLang, which the leader would otherwise wait for.
    Raises DemoError when it fails.
    """
    question = {"version": version, "argv": ["--model-path", "any"]}
    with report.step("waiting for SGLang's argument resolver"):
        url = f"http://{HOST}:{RESOLVER_PORT}/resolve"
        ask(url, body=json.dumps(question), seconds=_RESOLVER_SECONDS)


def install(cluster: Cluster) -> None:
    """The operator runs from its image, as installed from the repository's manifests."""
    deployment = f"deployment/{OPERATOR}"
    here = f"--namespace={OPERATOR_NAMESPACE}"
    before = cluster.kubectl("get", deployment, here, "--ignore-not-found", "--output=name")
    cluster.kubectl("apply", "--server-side", "-k", str(cluster.places.source / BASE))
    if before:
        # The image has the same name as before, and perhaps other content.
        cluster.kubectl("rollout", "restart", deployment, here)
    cluster.kubectl("rollout", "status", deployment, here, "--timeout=90s")


def clear(cluster: Cluster) -> None:
    """No group of an earlier demo is left, nor a pod of it."""
    cluster.kubectl("delete", "eepg", GROUP, f"--namespace={NAMESPACE}", "--ignore-not-found")
    pods = f"--selector={names.pod_selector(GROUP)}"
    cluster.kubectl("wait", "pods", pods, f"--namespace={NAMESPACE}", "--for=delete")


@dataclass(frozen=True, kw_only=True)
class Growth:
    """A group that has grown to its wanted size.

    `served_at` says since when, in seconds since the epoch, each EP size has been served.
    """

    scene: Scene
    applied_at: float
    served_at: dict[int, float]


def grow(cluster: Cluster, *, console: Console, deadline_seconds: float) -> Growth:
    """The example is applied, and serves with the size that it asks for.

    Raises DemoError when it does not within the deadline.
    """
    return _show_until_complete(
        cluster,
        ("apply", "-f", str(cluster.places.source / EXAMPLE)),
        console=console,
        deadline_seconds=deadline_seconds,
    )


def change(cluster: Cluster, *words: str, console: Console, deadline_seconds: float) -> Growth:
    """The group is changed with kubectl, and becomes what it is asked to be.

    Raises DemoError when it does not within the deadline.
    """
    return _show_until_complete(cluster, words, console=console, deadline_seconds=deadline_seconds)


def _show_until_complete(
    cluster: Cluster, words: Sequence[str], *, console: Console, deadline_seconds: float
) -> Growth:
    applied_at = time.time()
    cluster.kubectl(*words, f"--namespace={NAMESPACE}")
    # Only now, so that the first that is seen of the group is what it is asked to be.
    seen = watch(Api.from_kubeconfig(cluster.kubeconfig), (_GROUPS, _PODS, _EVENTS))
    world = _World()
    served_at: dict[int, float] = {}
    with open_picture(console, title=GROUP) as show:
        while True:
            try:
                change = seen.get(timeout=_GLANCE_SECONDS)
            except Empty:
                change = None
            if change is not None:
                world.take(change)
            scene = world.scene(since=applied_at)
            now = change.at if change is not None else time.time()
            if scene.settled and scene.effective:
                served_at.setdefault(scene.effective, now)
            show(scene, now - applied_at)
            if scene.complete:
                return Growth(scene=scene, applied_at=applied_at, served_at=served_at)
            if now - applied_at > deadline_seconds:
                raise DemoError(
                    f"the group serves with EP size {scene.effective}, not {scene.desired}, "
                    f"after {deadline_seconds:.0f} s: {scene.reason}: {scene.message}"
                )


class _World:
    """The objects around the group, as the watches have last shown them."""

    def __init__(self) -> None:
        self._objects: dict[str, dict[str, dict[str, Any]]] = {
            path: {} for path in (_GROUPS, _PODS, _EVENTS)
        }

    def take(self, change: Change) -> None:
        objects = self._objects[change.path]
        name = change.object["metadata"]["name"]
        if change.type == "DELETED":
            objects.pop(name, None)
        else:
            objects[name] = change.object

    def scene(self, *, since: float) -> Scene:
        """What there is to see, of the events those that came after ``since``."""
        group = self._objects[_GROUPS].get(GROUP)
        uid = group["metadata"]["uid"] if group else ""
        return read_scene(
            group=group,
            pods=[pod for pod in self._objects[_PODS].values() if of_group(pod, GROUP)],
            events=[
                event
                for event in self._objects[_EVENTS].values()
                if event.get("regarding", {}).get("uid") == uid and happened_at(event) >= since
            ],
        )
