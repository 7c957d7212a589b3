"""A testbed leaves nothing behind, whatever becomes of its driver."""

import json
import sys
import time
from collections.abc import Callable

import pytest
from tests.testbed.machine import Machine

from testbed.places import Places

pytestmark = [pytest.mark.cluster, pytest.mark.disturbs]

KUBECTL = str(Places.from_environment().programs / "kubectl")
UP = ("up", "--bare", "--nodes", "2")


def eventually(true: Callable[[], bool], *, within: float) -> bool:
    deadline = time.monotonic() + within
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param("making the network", id="the network half made"),
        pytest.param("starting the control plane", id="the control plane starting"),
        pytest.param("waiting for 2 nodes", id="kubelets starting"),
    ],
)
def test_after_a_killed_boot_down_leaves_nothing(machine: Machine, moment: str) -> None:
    before = machine.traces()
    heard = machine.kill_driver_when(moment, *UP)
    assert moment in heard
    assert machine.testbed("status").returncode == 1

    ended = machine.testbed("down")

    assert ended.returncode == 0, ended.stderr
    assert machine.traces() == before


def test_a_cluster_comes_after_a_killed_boot_and_goes(machine: Machine) -> None:
    before = machine.traces()
    machine.kill_driver_when("waiting for 2 nodes", *UP)

    came = machine.testbed(*UP)
    assert came.returncode == 0, came.stderr
    assert "cleaning up what an earlier run left" in came.stderr
    assert machine.testbed("status").returncode == 0
    _the_cluster_serves(machine)
    _a_lost_node_is_noticed_and_comes_back(machine)

    pids = machine.run("pgrep", "-x", "kube").stdout
    again = machine.testbed(*UP)
    assert again.returncode == 0, again.stderr
    assert machine.run("pgrep", "-x", "kube").stdout == pids, "a second up changed the cluster"
    larger = machine.testbed("up", "--bare", "--nodes", "3")
    assert larger.returncode == 1
    assert "run testbed down first" in larger.stderr

    for _ in range(2):
        ended = machine.testbed("down")
        assert ended.returncode == 0, ended.stderr
        assert machine.traces() == before


def _kubectl(machine: Machine, *words: str) -> str:
    kubeconfig = machine.testbed("kubeconfig").stdout.strip()
    done = machine.run(KUBECTL, f"--kubeconfig={kubeconfig}", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _the_cluster_serves(machine: Machine) -> None:
    nodes = json.loads(_kubectl(machine, "get", "nodes", "-o", "json"))["items"]
    offered = [node["status"]["allocatable"]["nvidia.com/gpu"] for node in nodes]
    assert offered == ["8", "8"]
    assert "CoreDNS" in _kubectl(machine, "logs", "-n=kube-system", "deployment/coredns")
    version = _kubectl(
        machine, "exec", "-n=kube-system", "deploy/coredns", "--", "/coredns", "-version"
    )
    assert "CoreDNS" in version
    # ClusterIPs and names are within reach of this machine: a name's answer comes from a pod.
    ask = "import socket; socket.create_connection(('10.96.0.10', 53), timeout=5)"
    assert machine.run(sys.executable, "-c", ask).returncode == 0


def _a_lost_node_is_noticed_and_comes_back(machine: Machine) -> None:
    def ready() -> str:
        path = '{.status.conditions[?(@.type=="Ready")].status}'
        return _kubectl(machine, "get", "node", "gpu-node-2", f"-o=jsonpath={path}")

    call = "from testbed.cluster import Cluster; Cluster.running().{}_node('gpu-node-2')"
    stopped = machine.run(sys.executable, "-c", call.format("stop"))
    assert stopped.returncode == 0, stopped.stderr
    assert "gpu-node-2" in machine.testbed("status").stdout
    assert eventually(lambda: ready() == "Unknown", within=40)

    started = machine.run(sys.executable, "-c", call.format("start"))
    assert started.returncode == 0, started.stderr
    assert ready() == "True"
