"""A real API server that serves ElasticEPGroup, for tests."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kubernetes.aio import config
from kubernetes.aio.client import ApiClient, Configuration

from elasticep.kube.client import KubeClient
from testbed.controlplane import ControlPlane, control_plane
from testbed.progress import PlainReport

CRD = Path(__file__).parents[2] / "crds" / "elasticepgroups.yaml"


@contextmanager
def api_server(directory: Path, *, crd: bool = True) -> Iterator[ControlPlane]:
    """etcd and the API server run; there are no controllers and no nodes."""
    with control_plane(directory=directory, report=PlainReport(stream=sys.stderr)) as plane:
        if crd:
            kubectl(plane, "apply", "--server-side", f"--filename={CRD}")
            wait_for_groups(plane)
        yield plane


def wait_for_groups(plane: ControlPlane) -> None:
    """The CRD, which has been installed, is in effect.

    Not by `kubectl wait`: that fails on a CRD so new that it has no status yet.
    """
    deadline = time.monotonic() + 60
    while "elasticepgroups" not in kubectl(plane, "api-resources", "--api-group=elasticep.dev"):
        assert time.monotonic() < deadline, "the CRD does not come into effect"
        time.sleep(0.1)


def kubectl(plane: ControlPlane, *words: str, stdin: str = "") -> str:
    """The administrator does something. The answer is what kubectl printed."""
    done = subprocess.run(
        [plane.kube, "kubectl", f"--kubeconfig={plane.kubeconfig}", *words],
        input=stdin,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def make_namespace(plane: ControlPlane, namespace: str) -> None:
    """The namespace exists, and pods can be made in it."""
    kubectl(plane, "create", "namespace", namespace)
    # A pod is refused until its namespace has this, which a controller would make.
    kubectl(plane, "create", "serviceaccount", "default", f"--namespace={namespace}")


async def connect(plane: ControlPlane) -> KubeClient:
    """A client with the administrator's rights."""
    configuration = Configuration()
    await config.load_kube_config(str(plane.kubeconfig), client_configuration=configuration)
    return KubeClient(ApiClient(configuration))
