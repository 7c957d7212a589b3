"""The disk that every node starts with: containerd's directory with all images unpacked.

Unpacked once, then each node gets it as hard links, in a fraction of a second and of the disk.
That is safe since containers write to layers of their own, never into an image's files; only
containerd's two databases are changed in place, and those are copied.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from testbed import daemons
from testbed.commands import CONTAINED, run
from testbed.images import BuiltImage
from testbed.locks import in_turn
from testbed.places import Places
from testbed.progress import Report

_READY_SECONDS = 30.0
_KEPT_SEEDS = 2
# Names each image of a seed, and what it was built from.
_CONTENTS = "testbed-images.json"

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
    """The seed with these images, made when the cache has none with just these.

    It begins with the seed that has most of them: mostly one image is new, and unpacking is slow.
    """
    wanted = {image.reference: image.key for image in images}
    name = hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()[:16]
    seeds = places.cache / "seeds"
    seed = seeds / name
    if seed.exists():
        return seed
    with in_turn(seeds / "seed.lock"):
        if seed.exists():
            return seed
        present = _begin(seeds / "unfinished", wanted=wanted)
        fresh = [image for image in images if image.reference not in present]
        with report.step(f"unpacking images for the nodes, {len(fresh)} of {len(images)} are new"):
            _unpack(fresh, root=seeds / "unfinished", places=places)
            (seeds / "unfinished" / _CONTENTS).write_text(json.dumps(wanted), "utf-8")
            (seeds / "unfinished").rename(seed)
        for old in _seeds(seeds)[:-_KEPT_SEEDS]:
            _remove(old)
    return seed


def _begin(directory: Path, *, wanted: Mapping[str, str]) -> set[str]:
    """Plant the seed that has most of the wanted images; the answer is which."""
    _remove(directory)
    start = max(_seeds(directory.parent), key=lambda each: len(_same(each, wanted)), default=None)
    present = set() if start is None else _same(start, wanted)
    if start is not None and present:
        plant(start, target=directory)
        # A link into the other seed, whose contents stay what they are.
        (directory / _CONTENTS).unlink()
    return present


def _seeds(directory: Path) -> list[Path]:
    """The finished seeds, the newest last."""
    contents = sorted(directory.glob(f"*/{_CONTENTS}"), key=lambda path: path.stat().st_mtime)
    return [path.parent for path in contents]


def _same(seed: Path, wanted: Mapping[str, str]) -> set[str]:
    """The names of the wanted images that the seed has just so."""
    contents: dict[str, str] = json.loads((seed / _CONTENTS).read_text("utf-8"))
    return {name for name, key in wanted.items() if contents.get(name) == key}


def _remove(directory: Path) -> None:
    run(["rm", "--recursive", "--force", directory])


def plant(seed: Path, *, target: Path) -> None:
    """The directory `target` is a node's own copy of the seed."""
    _remove(target)
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
    load: list[str | Path] = ["ctr", "--address", socket, "--namespace", "k8s.io", "images"]
    daemon = daemons.start("seeding", argv, state=places.state)
    try:
        daemon.wait_until(socket.exists, seconds=_READY_SECONDS, what="socket")
        for image in images:
            run([*load, "import", image.archive])
    finally:
        daemons.end(lambda process: process.name == "seeding", state=places.state)
        shutil.rmtree(state, ignore_errors=True)
