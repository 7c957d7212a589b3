"""The engine's image installs what the project's lock file says, and nothing else."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_image_installs_the_locked_versions() -> None:
    requirements = (ROOT / "testbed/engine/requirements.txt").read_text()
    pinned = dict(re.findall(r"^([\w.-]+)==([\w.]+)", requirements, re.MULTILINE))
    lock = tomllib.loads((ROOT / "uv.lock").read_text())
    locked = {package["name"]: package["version"] for package in lock["package"]}
    assert {"aiohttp", "pydantic"} <= pinned.keys()
    assert pinned == {name: locked[name] for name in pinned}
