"""Where things are, for the tests of what surrounds the code."""

import subprocess
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]

Kubectl = Callable[..., subprocess.CompletedProcess[str]]
"""Runs kubectl with these words, and `stdin=` if it is to read something."""
