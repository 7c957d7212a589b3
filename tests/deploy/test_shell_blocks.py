"""The commands in the documents do what they promise, on a real cluster."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.deploy.documents import blocks, documents, name
from tests.deploy.repository import ROOT

from testbed.cluster import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.disturbs]

_SECONDS = 600


def _script(document: Path) -> str:
    marked = [block for block in blocks(document) if block.where == "cluster"]
    assert {block.language for block in marked} <= {"bash"}
    return "".join(block.text for block in marked)


SESSIONS = [document for document in documents() if _script(document)]
# What is installed by one is used by the others.
SESSIONS.sort(key=lambda document: document.name != "install.md")


@pytest.mark.parametrize("document", SESSIONS, ids=name)
def test_session_of_a_document_runs_from_its_first_command_to_its_last(document: Path) -> None:
    cluster = Cluster.running()
    tools = [str(cluster.places.programs), str(Path(sys.executable).parent)]
    environment = {
        **os.environ,
        "KUBECONFIG": str(cluster.kubeconfig),
        "PATH": os.pathsep.join([*tools, os.environ["PATH"]]),
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", _script(document)],
        check=False,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_SECONDS,
    )
    assert done.returncode == 0, done.stdout
