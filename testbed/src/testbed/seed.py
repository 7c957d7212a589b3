"""The disk that every node starts with: containerd's directory with all images unpacked.

Unpacked once, then each node gets it as hard links, in a fraction of a second and of the disk.
That is safe since containers write to layers of their own, never into an image's files; only
containerd's two databases are changed in place, and those are copied.
"""

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from testbed import daemons
from testbed.commands import CONTAINED, run
from testbed.images import BuiltImage
from testbed.locks import in_turn
from testbed.places import Places
from testbed.progress import Report

_READY_SECONDS = 30.0
_KEPT_SEEDS = 2

_CONFIG = """\
version = 2
root = "{root}"
state = "{state}"
disabled_plugins = [
  "io.containerd.grpc.v1.cri",
  "io.containerd.internal.v1.opt",
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
]
[grpc]
  address = "{state}/containerd.sock"
"""


def make_seed(images: Sequence[BuiltImage], *, places: Places, report: Report) -> Path:
    """Containerd's directory with these images, made when the cache has none with just these."""
    keys = sorted(f"{image.reference} {image.key}" for image in images)
    name = hashlib.sha256("\n".join(keys).encode()).hexdigest()[:16]
    seeds = places.cache / "seeds"
    seed = seeds / name
    if seed.exists():
        return seed
    with in_turn(seeds / "seed.lock"):
        if seed.exists():
            return seed
        with report.step(f"unpacking {len(images)} images for the nodes"):
            unfinished = seeds / "unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            _unpack(images, root=unfinished, places=places)
            unfinished.rename(seed)
        made = sorted(
            (path for path in seeds.iterdir() if path.is_dir()),
            key=lambda path: path.stat().st_ctime,
        )
        for old in made[:-_KEPT_SEEDS]:
            shutil.rmtree(old)
    return seed


def plant(seed: Path, *, target: Path) -> None:
    """The directory `target` is a node's own copy of the seed."""
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    link = ["--link"] if seed.stat().st_dev == target.parent.stat().st_dev else []
    run(["cp", "--archive", *link, seed, target])
    for database in seed.glob("*/*.db"):
        own = target / database.relative_to(seed)
        own.unlink()
        shutil.copy2(database, own)


def _unpack(images: Sequence[BuiltImage], *, root: Path, places: Places) -> None:
    state = places.state / "seeding"
    state.mkdir(parents=True, exist_ok=True)
    config = state / "config.toml"
    config.write_text(_CONFIG.format(root=root, state=state), "utf-8")
    socket = state / "containerd.sock"
    argv: list[str | Path] = [*CONTAINED, "containerd", "--config", config]
    daemon = daemons.start("seeding", argv, state=places.state)
    try:
        daemon.wait_until(socket.exists, seconds=_READY_SECONDS, what="socket")
        for image in images:
            run(
                [
                    "ctr",
                    "--address",
                    socket,
                    "--namespace",
                    "k8s.io",
                    "images",
                    "import",
                    image.archive,
                ]
            )
    finally:
        daemons.end(lambda process: process.name == "seeding", state=places.state)
        shutil.rmtree(state, ignore_errors=True)
