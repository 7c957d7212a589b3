"""The operator's image, as it runs on a node."""

import json
from importlib.metadata import version

import pytest

from testbed.cluster import Cluster

pytestmark = pytest.mark.cluster

_LOOK = """
import importlib.metadata, json, os, pathlib
try:
    pathlib.Path("/opt/elasticep/mark").write_text("")
    writable = True
except OSError:
    writable = False
packages = {each.name: each.version for each in importlib.metadata.distributions()}
print(json.dumps({"user": os.getuid(), "writable": writable, "packages": packages}))
"""


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    """The cluster of `make up`, with the operator installed."""
    running = Cluster.running()
    base = str(running.places.source / "deploy" / "kustomize" / "base")
    running.kubectl("apply", "--server-side", "-k", base)
    status = ["rollout", "status", "deployment/elasticep-operator", "--timeout=90s"]
    running.kubectl(*status, "--namespace=elasticep-system")
    return running


def execute(cluster: Cluster, *words: str) -> str:
    """What a program in the operator's container prints."""
    target = ["exec", "deployment/elasticep-operator", "--namespace=elasticep-system", "--"]
    return cluster.kubectl(*target, *words)


def test_process_has_a_number_for_a_user_and_nothing_to_write_to(cluster: Cluster) -> None:
    seen = json.loads(execute(cluster, "python", "-c", _LOOK))
    assert (seen["user"], seen["writable"]) == (65532, False)


def test_only_the_operator_and_what_it_needs_is_installed(cluster: Cluster) -> None:
    packages = json.loads(execute(cluster, "python", "-c", _LOOK))["packages"]
    assert packages["elasticep"] == version("elasticep")
    assert not {"elasticep-testbed", "pytest", "mypy", "ruff", "hypothesis"} & set(packages)


def test_health_and_metrics_are_answered_through_the_service(cluster: Cluster) -> None:
    get = "import urllib.request, sys; print(urllib.request.urlopen(sys.argv[1]).read().decode())"
    host = "http://elasticep-operator-metrics.elasticep-system:8080"
    for path in ("/healthz", "/readyz"):
        assert execute(cluster, "python", "-c", get, host + path).strip() == "ok"
    assert "elasticep_leader 1.0" in execute(cluster, "python", "-c", get, f"{host}/metrics")
