"""An API server of one's own comes, serves and goes."""

import io
import json
import subprocess
from pathlib import Path

from testbed import daemons
from testbed.api import Api
from testbed.controlplane import ControlPlane, control_plane
from testbed.progress import PlainReport


def kubectl(plane: ControlPlane, *words: str) -> str:
    argv = [plane.kube, "kubectl", f"--kubeconfig={plane.kubeconfig}", *words]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def test_it_serves_tells_of_each_write_and_goes(tmp_path: Path) -> None:
    with control_plane(directory=tmp_path, report=PlainReport(stream=io.StringIO())) as plane:
        kubectl(plane, "create", "namespace", "made-here")
        assert "made-here" in kubectl(plane, "get", "namespaces", "-o=name")
        writes = [
            line["objectRef"]["name"]
            for line in map(json.loads, plane.audit_log.read_text().splitlines())
            if line["user"].get("username") == "testbed-admin" and line["verb"] == "create"
        ]
        assert writes == ["made-here"]
        api = Api.from_kubeconfig(plane.kubeconfig)
        assert api.is_ready()
    assert not api.is_ready()
    assert daemons.find(state=tmp_path) == []


def test_two_stand_beside_each_other(tmp_path: Path) -> None:
    report = PlainReport(stream=io.StringIO())
    with (
        control_plane(directory=tmp_path / "one", report=report) as one,
        control_plane(directory=tmp_path / "two", report=report) as two,
    ):
        kubectl(one, "create", "namespace", "only-here")
        assert "only-here" not in kubectl(two, "get", "namespaces", "-o=name")
