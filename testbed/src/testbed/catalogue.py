"""Which images there are, and what each is built from."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from testbed.commands import CONTAINED, marked, run
from testbed.errors import TestbedError
from testbed.images import BuiltImage, Image, ImageStore
from testbed.locks import in_turn
from testbed.programs import Programs

PAUSE = "localhost/elasticep/pause:1"
COREDNS = "localhost/elasticep/coredns:1"
BASE = "localhost/elasticep/base:bookworm"
OPERATOR = "docker.io/elasticep/operator:0.1.0"

# No manuals: a third of the files.
_ROOTFS = (
    "mmdebstrap",
    "--quiet",
    "--variant=essential",
    "--include=python3,python3-venv,python3-pip,ca-certificates",
    "--dpkgopt=path-exclude=/usr/share/doc/*",
    "--dpkgopt=path-exclude=/usr/share/man/*",
    "--dpkgopt=path-exclude=/usr/share/locale/*",
    # As in python:3.11-slim, pip may install beside the system's packages, and python is a name.
    '--customize-hook=rm "$1"/usr/lib/python3.11/EXTERNALLY-MANAGED',
    '--customize-hook=ln -s /usr/bin/python3 "$1"/usr/local/bin/python',
    "bookworm",
)


def engine_reference(version: str) -> str:
    """The name that deployments use for SGLang's image of this version."""
    return f"docker.io/lmsysorg/sglang:v{version}"


def build_system_images(store: ImageStore, *, programs: Programs) -> list[BuiltImage]:
    """The images that a cluster cannot do without."""
    source = store.places.source / "testbed"
    return [
        store.build(
            Image(
                reference=reference,
                dockerfile=source / binary.name / "Dockerfile",
                context=binary.parent,
            )
        )
        for reference, binary in ((PAUSE, programs.pause), (COREDNS, programs.coredns))
    ]


def build_project_images(store: ImageStore, *, engine_versions: Sequence[str]) -> list[BuiltImage]:
    """The simulated engine in these versions, and the operator."""
    source = store.places.source
    base = _build_base(store)
    engines = [
        Image(
            reference=engine_reference(version),
            dockerfile=source / "testbed" / "engine" / "Dockerfile",
            context=source / "testbed",
            arguments={"VERSION": version},
            base=base,
        )
        for version in engine_versions
    ]
    operator = Image(
        reference=OPERATOR, dockerfile=source / "Dockerfile", context=source, base=base
    )
    return [store.build(image) for image in (*engines, operator) if image.dockerfile.exists()]


def _build_base(store: ImageStore) -> BuiltImage:
    rootfs = _root_file_system(store)
    return store.build(
        Image(
            reference=BASE,
            dockerfile=store.places.source / "testbed" / "base" / "Dockerfile",
            context=rootfs.parent,
        )
    )


def _root_file_system(store: ImageStore) -> Path:
    """A Debian with Python, made once by the recipe above."""
    recipe = hashlib.sha256("\n".join(_ROOTFS).encode()).hexdigest()[:16]
    directory = store.places.cache / "base" / recipe
    rootfs = directory / "rootfs.tar"
    if rootfs.exists():
        return rootfs
    with in_turn(store.places.cache / "base.lock"):
        if rootfs.exists():
            return rootfs
        directory.mkdir(parents=True, exist_ok=True)
        unfinished = directory / "unfinished.tar"
        log = directory / "mmdebstrap.log"
        env = marked("mmdebstrap", state=store.places.state)
        with store.report.step("making the base image from Debian packages"):
            try:
                run([*CONTAINED, *_ROOTFS, unfinished], log=log, env=env)
            except TestbedError:
                unfinished.unlink(missing_ok=True)
                raise
        unfinished.replace(rootfs)
    return rootfs
