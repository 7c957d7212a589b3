import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException
from tests.api.specimens import group

from elasticep.api import names
from testbed.controlplane import ControlPlane, control_plane
from testbed.progress import PlainReport

CRD_FILE = Path(__file__).parents[2] / "crds" / "elasticepgroups.yaml"

_GROUPS = {
    "group": names.API_GROUP,
    "version": "v1alpha1",
    "namespace": "default",
    "plural": names.PLURAL,
}


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why the API server did not take an object."""

    message: str
    causes: frozenset[tuple[str, str]] = frozenset()
    """Fields, and what is wrong with each."""


class ApiServer:
    """A real API server that knows ElasticEPGroup, and nobody who acts on one."""

    def __init__(self, *, plane: ControlPlane, groups: client.CustomObjectsApi) -> None:
        self.plane = plane
        self.groups = groups

    def kubectl(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """What kubectl says, with nothing remembered from other servers."""
        own = [
            f"--kubeconfig={self.plane.kubeconfig}",
            f"--cache-dir={self.plane.directory / 'kubectl'}",
        ]
        argv = [self.plane.kube, "kubectl", *own, *words]
        return subprocess.run(argv, input=stdin, capture_output=True, text=True, check=False)

    def create(self, group: dict[str, Any], **options: str) -> dict[str, Any] | Refusal:
        """The group as it was stored, or why it was not; unknown fields are errors."""
        try:
            return self.groups.create_namespaced_custom_object(
                **_GROUPS, body=group, field_validation="Strict", **options
            )
        except ApiException as error:
            return _refusal(error)

    def judge(self, group: dict[str, Any]) -> Refusal | None:
        """Why the group would be refused, if it would be; nothing is stored."""
        verdict = self.create(group, dry_run="All")
        return verdict if isinstance(verdict, Refusal) else None

    def get(self, name: str) -> dict[str, Any]:
        """The group as it is stored."""
        return self.groups.get_namespaced_custom_object(**_GROUPS, name=name)

    def write_status(self, name: str, status: dict[str, Any]) -> dict[str, Any] | Refusal:
        """The group after its status was merged with this one, or why it was not."""
        try:
            return self.groups.patch_namespaced_custom_object_status(
                **_GROUPS, name=name, body={"status": status}
            )
        except ApiException as error:
            return _refusal(error)

    def scale(self, name: str, replicas: int) -> dict[str, Any] | Refusal:
        """The scale subresource after ``replicas`` was written to it, or why it was not."""
        try:
            return self.groups.patch_namespaced_custom_object_scale(
                **_GROUPS, name=name, body={"spec": {"replicas": replicas}}
            )
        except ApiException as error:
            return _refusal(error)

    def delete(self, name: str) -> None:
        """The group is gone."""
        self.groups.delete_namespaced_custom_object(**_GROUPS, name=name)


def _refusal(error: ApiException) -> Refusal:
    status = json.loads(error.body)
    causes = status.get("details", {}).get("causes", [])
    return Refusal(
        message=status["message"],
        causes=frozenset((cause["field"], cause["message"]) for cause in causes),
    )


@pytest.fixture(scope="session")
def bare_apiserver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """An API server that does not know ElasticEPGroup yet."""
    directory = tmp_path_factory.mktemp("apiserver")
    with control_plane(directory=directory, report=PlainReport(stream=sys.stderr)) as plane:
        connection = config.new_client_from_config(str(plane.kubeconfig))
        yield ApiServer(plane=plane, groups=client.CustomObjectsApi(connection))
        connection.close()


@pytest.fixture(scope="session")
def apiserver(bare_apiserver: ApiServer) -> ApiServer:
    """An API server that serves ElasticEPGroup."""
    applied = bare_apiserver.kubectl("apply", "--server-side", "-f", str(CRD_FILE))
    assert (applied.returncode, applied.stderr) == (0, ""), "the CRD is taken without a warning"
    # Explained is what is established. `kubectl wait` fails on a CRD that has no status yet.
    deadline = time.monotonic() + 30
    while (explained := bare_apiserver.kubectl("explain", names.SHORT_NAME)).returncode != 0:
        assert time.monotonic() < deadline, explained.stderr
        time.sleep(0.1)
    return bare_apiserver


@pytest.fixture
def stored(apiserver: ApiServer, request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of a stored good group of this test's own."""
    name = f"group-{names.short_hash(request.node.nodeid)}"
    created = apiserver.create(group(metadata__name=name))
    assert not isinstance(created, Refusal), created
    yield name
    apiserver.delete(name)
