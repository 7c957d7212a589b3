"""The examples are good as they are."""

from pathlib import Path

import pytest
from tests.deploy.repository import ROOT, Kubectl

from elasticep.cli import commands

EXAMPLES = sorted((ROOT / "deploy" / "examples").glob("*.yaml"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_lint_finds_nothing(example: Path) -> None:
    assert commands.main(["lint", str(example)], program="elasticep") == 0


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_api_server_takes_it_without_a_warning(installed: Kubectl, example: Path) -> None:
    done = installed("create", "--dry-run=server", "-f", str(example))
    assert (done.returncode, done.stderr) == (0, "")
