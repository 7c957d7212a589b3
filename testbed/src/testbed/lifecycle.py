"""The three things that change a testbed: up, down and load. One at a time."""

import os
from collections.abc import Sequence

from testbed.boot import boot, prepare
from testbed.catalogue import build_project_images
from testbed.cluster import Cluster
from testbed.errors import TestbedError
from testbed.images import ImageStore
from testbed.locks import only_one
from testbed.packages import install_packages
from testbed.places import Places
from testbed.progress import Report
from testbed.record import Record, read_record
from testbed.teardown import is_anything_left, tear_down


def up(*, places: Places, report: Report, nodes: int, engine_versions: Sequence[str]) -> None:
    """A cluster of so many nodes is up; one that was left half-way is cleaned up first.

    Without engine versions it is bare: neither the simulated engine nor the operator is on it.

    Raises TestbedError when a cluster of another size is up, or a step fails.
    """
    _need_root("up")
    with only_one(places.lock, doing="up"):
        record = read_record(places.record)
        if record is not None and record.complete:
            missing = Cluster(places=places, record=record).missing()
            if not missing:
                _accept(record, nodes=nodes, engine_versions=engine_versions, report=report)
                return
            report.say(f"a cluster was up, but without {', '.join(missing)}: starting anew")
        install_packages(places=places, report=report)
        if is_anything_left(places):
            with report.step("cleaning up what an earlier run left"):
                tear_down(places)
        materials = prepare(places=places, report=report, engine_versions=engine_versions)
        boot(
            places=places,
            report=report,
            materials=materials,
            node_count=nodes,
            engine_versions=engine_versions,
        )


def down(*, places: Places, report: Report) -> None:
    """Nothing of the testbed is left but its cache."""
    _need_root("down")
    with only_one(places.lock, doing="down"):
        if not is_anything_left(places):
            report.say("the testbed is not up")
            return
        with report.step("ending everything of the testbed"):
            tear_down(places)


def load(*, places: Places, report: Report, engine_versions: Sequence[str] = ()) -> None:
    """The project's images, as the source is now, are on the nodes of the running cluster.

    Of the engine, those of these versions, or of those that the cluster came up with.

    Raises TestbedError when none is up or an image does not build.
    """
    _need_root("load")
    with only_one(places.lock, doing="load"):
        cluster = Cluster.running(places)
        store = ImageStore(places=places, report=report)
        versions = engine_versions or cluster.record.engine_versions
        images = build_project_images(store, engine_versions=versions)
        if not cluster.load(images, report=report):
            report.say("the nodes have these images already")


def _need_root(command: str) -> None:
    """Namespaces, mounts and containers are root's to make."""
    if os.geteuid() != 0:
        raise TestbedError(f"only root can make nodes; run: sudo testbed {command}")


def _accept(record: Record, *, nodes: int, engine_versions: Sequence[str], report: Report) -> None:
    """Raise TestbedError when the cluster that is up is not the one that is wanted."""
    if record.nodes != nodes:
        raise TestbedError(
            f"a cluster of {record.nodes} nodes is up, not of {nodes}; run testbed down first"
        )
    absent = [version for version in engine_versions if version not in record.engine_versions]
    if absent:
        raise TestbedError(
            f"a cluster is up without SGLang {', '.join(absent)}; run testbed down first"
        )
    report.say(f"a cluster of {record.nodes} nodes is up already")
