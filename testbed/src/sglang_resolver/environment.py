"""A virtual environment per SGLang version, in the cache, made once by uv.

SGLang brings torch and CUDA libraries: about 9 GB for the first version. uv hard-links from its
own cache, so the next versions cost only what differs.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PYTHON_VERSION = "3.11"

# What SGLang asks for here has no built wheel, and its sources need the CUDA toolkit.
OVERRIDES = ("cuda-tile==1.6.0",)

Progress = Callable[[str], None]


class EnvironmentFailedError(Exception):
    """The environment could not be made; the text ends with what uv said."""


def ensure(version: str, progress: Progress) -> Path:
    """The directory of an environment with exactly this version of SGLang; its python is in bin.

    Made in a directory beside it and renamed, under a lock, so a half-made one is never seen.
    Raises EnvironmentFailedError.
    """
    final = cache_directory() / f"sglang-{version}-{recipe_key(version)}"
    if final.is_dir():
        return final
    final.parent.mkdir(parents=True, exist_ok=True)
    with locked(final.with_suffix(".lock")):
        if final.is_dir():
            return final
        progress(f"sglang {version}: installing, up to 9 GB on first use")
        building = Path(tempfile.mkdtemp(prefix=f".{final.name}-", dir=final.parent))
        try:
            install(version, building, progress)
            building.rename(final)
        except BaseException:
            shutil.rmtree(building, ignore_errors=True)
            raise
        progress(f"sglang {version}: installed")
    return final


def cache_directory() -> Path:
    """Where environments are kept; it may be deleted at any time."""
    if chosen := os.environ.get("ELASTICEP_CACHE"):
        return Path(chosen, "sglang")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "elasticep", "sglang")


def recipe_key(version: str) -> str:
    """A short hash of everything that decides what the environment holds."""
    recipe = "\n".join((version, PYTHON_VERSION, *OVERRIDES))
    return hashlib.sha256(recipe.encode()).hexdigest()[:12]


def install(version: str, directory: Path, progress: Progress) -> None:
    """Fill the directory with the environment."""
    run_uv(["venv", "--quiet", "--clear", "--python", PYTHON_VERSION, str(directory)], progress)
    overrides = directory / "overrides.txt"
    overrides.write_text("\n".join(OVERRIDES) + "\n")
    run_uv(
        [
            *("pip", "install", "--python", str(directory / "bin" / "python")),
            *("--overrides", str(overrides)),
            f"sglang=={version}",
        ],
        progress,
    )


def run_uv(arguments: list[str], progress: Progress) -> None:
    """Run uv and pass on what it says, without its list of every package."""
    program = shutil.which("uv")
    command = [program] if program else [sys.executable, "-m", "uv"]
    said: list[str] = []
    with subprocess.Popen(
        [*command, "--no-config", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        for line in process.stdout or ():
            said.append(line.rstrip())
            if not line.startswith((" +", " -", " ~")):
                progress(line.rstrip())
    if process.returncode:
        tail = "\n".join(said[-20:])
        raise EnvironmentFailedError(f"uv {arguments[0]} exited {process.returncode}:\n{tail}")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on the path, across processes."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
