"""Builds the Go programs once, and keeps them by the content of what they are built from."""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from testbed.commands import run
from testbed.errors import TestbedError, last_lines
from testbed.locks import in_turn
from testbed.places import Places
from testbed.progress import Report, Step

CLUSTER_PROGRAMS = (
    "device-plugin",
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-proxy",
    "kube-scheduler",
    "kubectl",
    "kubelet",
)
_KEPT_BUILDS = 2


@dataclass(frozen=True, kw_only=True)
class Programs:
    """The built binaries; `kube` answers to each name of CLUSTER_PROGRAMS."""

    kube: Path
    coredns: Path
    pause: Path


def build_programs(*, places: Places, report: Report) -> Programs:
    """The binaries, built where the cache does not have them yet."""
    kube = build_kube(places=places, report=report)
    return Programs(
        kube=kube,
        coredns=_build("coredns", places=places, report=report),
        pause=_build("pause", places=places, report=report),
    )


def build_kube(*, places: Places, report: Report) -> Path:
    """The binary of the cluster's programs, with links by name in the cache's bin directory."""
    source = places.source / "testbed" / "kube"
    kube = _build("kube", places=places, report=report, ldflags=_version_flags(source))
    places.programs.mkdir(parents=True, exist_ok=True)
    for name in CLUSTER_PROGRAMS:
        link = places.programs / name
        if not link.is_symlink() or link.readlink() != kube:
            fresh = link.with_name(f".{name}.{os.getpid()}")
            fresh.symlink_to(kube)
            fresh.replace(link)
    return kube


def kubernetes_version(source: Path) -> str:
    """The Kubernetes release that the module asks for, as v1.36.3."""
    found = re.search(r"k8s\.io/kubernetes (v\S+)", (source / "go.mod").read_text("utf-8"))
    if found is None:
        raise TestbedError(f"{source}/go.mod does not require k8s.io/kubernetes")
    return found[1]


def _version_flags(source: Path) -> Sequence[str]:
    """Linker flags that name the release; a plain build calls itself v0.0.0-master."""
    version = kubernetes_version(source)
    major, minor, _ = version.removeprefix("v").split(".", 2)
    values = {
        "gitVersion": version,
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
    }
    return [f"-X k8s.io/component-base/version.{name}={value}" for name, value in values.items()]


def _build(name: str, *, places: Places, report: Report, ldflags: Sequence[str] = ()) -> Path:
    source = places.source / "testbed" / name
    key = _key(source, ldflags=ldflags)
    store = places.cache / "go"
    binary = store / f"{name}-{key}" / name
    if binary.exists():
        return binary
    with in_turn(store / f"{name}.lock"):
        if binary.exists():
            return binary
        with report.step(f"building {name} from its Go modules") as step:
            _compile(source, target=binary, ldflags=ldflags, log=store / f"{name}.log", step=step)
        _forget_old(store, name=name)
    return binary


def _key(source: Path, *, ldflags: Sequence[str]) -> str:
    if shutil.which("go") is None:
        raise TestbedError(
            "go is not installed; the testbed builds Kubernetes with Go 1.26 or newer"
        )
    digest = hashlib.sha256(run(["go", "env", "GOVERSION"], cwd=source).encode())
    digest.update(" ".join(ldflags).encode())
    for path in sorted([*source.glob("go.*"), *source.glob("*.go")]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _compile(source: Path, *, target: Path, ldflags: Sequence[str], log: Path, step: Step) -> None:
    """Build to a name of our own and move it into place: a half-written binary is never found."""
    env = {**os.environ, "CGO_ENABLED": "0"}
    step.at("downloading modules")
    total = len(run(["go", "list", "-deps", "."], cwd=source, env=env).splitlines())
    unfinished = target.with_name(f"{target.name}.{os.getpid()}")
    target.parent.mkdir(parents=True, exist_ok=True)
    argv = ["go", "build", "-v", "-trimpath", "-buildvcs=false"]
    argv += ["-ldflags", " ".join(["-s", "-w", *ldflags]), "-o", str(unfinished), "."]
    with (
        log.open("w", encoding="utf-8") as sink,
        subprocess.Popen(
            argv, cwd=source, env=env, stdout=sink, stderr=subprocess.PIPE, text=True
        ) as build,
    ):
        assert build.stderr is not None  # noqa: S101 - says to the type checker what PIPE means
        for done, line in enumerate(build.stderr, start=1):
            sink.write(line)
            step.at(f"{done} of at most {total} packages")
    if build.returncode != 0:
        raise TestbedError(f"go build in {source} ended with {build.returncode}\n{last_lines(log)}")
    unfinished.replace(target)


def _forget_old(store: Path, *, name: str) -> None:
    builds = sorted(store.glob(f"{name}-*"), key=lambda path: path.stat().st_mtime)
    for old in builds[:-_KEPT_BUILDS]:
        shutil.rmtree(old)
