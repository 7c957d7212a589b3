"""Builds the container images without a registry, and keeps them as archives by content."""

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from testbed.commands import CONTAINED, marked, run
from testbed.errors import TestbedError
from testbed.locks import in_turn
from testbed.places import Places
from testbed.progress import Report

_AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")
_KEPT_ARCHIVES = 2
# A build that reuses most layers adds four; so many are about 8 GB.
_MOST_LAYERS = 250


@dataclass(frozen=True, kw_only=True)
class Image:
    """An image to build: its name, its Dockerfile, and the directory that COPY reads from."""

    reference: str
    dockerfile: Path
    context: Path
    arguments: Mapping[str, str] = field(default_factory=dict)
    base: "BuiltImage | None" = None


@dataclass(frozen=True, kw_only=True)
class BuiltImage:
    """An image as an OCI archive; the key changes with anything that it is built from."""

    reference: str
    key: str
    archive: Path


@dataclass(frozen=True, kw_only=True)
class ImageStore:
    """The images of one cache."""

    places: Places
    report: Report

    def build(self, image: Image) -> BuiltImage:
        """The image's archive, built when the cache does not have it.

        Raises TestbedError with the end of the build's log.
        """
        slug = re.sub(r"[^a-z0-9.]+", "-", image.reference)
        key = content_key(image)
        archive = self._directory / f"{slug}-{key}.tar"
        built = BuiltImage(reference=image.reference, key=key, archive=archive)
        if archive.exists():
            return built
        log = self._directory / f"{slug}.log"
        with in_turn(self._directory / "build.lock"):
            if archive.exists():
                return built
            with self.report.step(f"building image {image.reference}"):
                self._build(image, archive=archive, log=log)
            self._forget_old(slug)
        return built

    def has(self, reference: str) -> bool:
        """Builds can start from this image."""
        return reference in self._listed("{{.Name}}:{{.Tag}}")

    @property
    def _directory(self) -> Path:
        return self.places.cache / "images"

    @property
    def _env(self) -> Mapping[str, str]:
        return marked("buildah", state=self.places.state)

    @property
    def _storage(self) -> Path:
        return self.places.cache / "buildah"

    def _listed(self, what: str, *words: str) -> list[str]:
        return run(self._buildah("images", "--format", what, *words), env=self._env).split()

    def _buildah(self, *words: str) -> list[str]:
        storage = self._storage
        places = ("--root", str(storage / "root"), "--runroot", str(storage / "run"))
        return [*CONTAINED, "buildah", *places, "--storage-driver", "overlay", *words]

    def _build(self, image: Image, *, archive: Path, log: Path) -> None:
        log.unlink(missing_ok=True)
        if len(self._listed("{{.ID}}", "--all")) > _MOST_LAYERS:
            # All of it: among the layers without a name are those that a build would reuse.
            shutil.rmtree(self._storage)
        if image.base is not None and not self.has(image.base.reference):
            run(self._buildah("pull", f"oci-archive:{image.base.archive}"), log=log, env=self._env)
        arguments = dict(image.arguments)
        if image.base is not None:
            arguments["BASE"] = image.base.reference
        build = ["bud", "--layers", "--pull-never", "--isolation", "chroot", "--network", "host"]
        if _AUTHORITIES.exists():
            # A step that runs pip trusts whom this machine trusts.
            build += ["--volume", f"{_AUTHORITIES}:{_AUTHORITIES}:ro"]
        for name, value in arguments.items():
            build += ["--build-arg", f"{name}={value}"]
        build += ["--tag", image.reference, "--file", str(image.dockerfile), str(image.context)]
        run(self._buildah(*build), log=log, env=self._env)
        unfinished = archive.with_suffix(".unfinished")
        unfinished.unlink(missing_ok=True)
        # Not compressed: that costs seconds, and the archive never leaves this machine.
        push = ["push", "--disable-compression", image.reference]
        target = f"oci-archive:{unfinished}:{image.reference}"
        run(self._buildah(*push, target), log=log, env=self._env)
        unfinished.replace(archive)

    def _forget_old(self, slug: str) -> None:
        archives = [
            path
            for path in self._directory.glob(f"{slug}-*.tar")
            if re.fullmatch(r"[0-9a-f]{16}", path.stem.removeprefix(f"{slug}-"))
        ]
        archives.sort(key=lambda path: path.stat().st_mtime)
        for old in archives[:-_KEPT_ARCHIVES]:
            old.unlink()


def content_key(image: Image) -> str:
    """Names everything that the image is built from: a changed byte changes it."""
    digest = hashlib.sha256(image.dockerfile.read_bytes())
    digest.update(json.dumps([image.reference, dict(image.arguments)]).encode())
    if image.base is not None:
        digest.update(image.base.key.encode())
    for source in copied_sources(image.dockerfile.read_text("utf-8")):
        found = False
        for path in sorted(image.context.glob(source.strip("/") or "*")):
            found = True
            _add_tree(digest, path=path, context=image.context)
        if not found:
            raise TestbedError(f"{image.dockerfile} copies {source}, not in {image.context}")
    return digest.hexdigest()[:16]


def copied_sources(dockerfile: str) -> Iterator[str]:
    """What COPY and ADD take from the context, as patterns."""
    for line in dockerfile.replace("\\\n", " ").splitlines():
        word, _, rest = line.strip().partition(" ")
        if word.upper() not in {"COPY", "ADD"} or "--from=" in rest:
            continue
        words = rest.strip()
        if words.startswith("["):
            yield from json.loads(words)[:-1]
        else:
            yield from [each for each in words.split() if not each.startswith("--")][:-1]


def _add_tree(digest: "hashlib._Hash", *, path: Path, context: Path) -> None:
    for file in _files(path):
        relative = file.relative_to(context).as_posix()
        executable = file.stat().st_mode & 0o111
        digest.update(f"{relative}\0{executable}\0{file.stat().st_size}\0".encode())
        with file.open("rb") as content:
            digest.update(hashlib.file_digest(content, "sha256").digest())


def _files(path: Path) -> Iterable[Path]:
    if path.is_file():
        return [path]
    return sorted(
        file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts
    )
