"""How the process begins and ends: as asked, or with a word about why it cannot go on."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.kube.api_server import api_server, kubectl
from tests.process.operator_process import NAMESPACE, Start, eventually, kubeconfig_for

from testbed import daemons
from testbed.controlplane import ControlPlane


def holder(plane: ControlPlane) -> str:
    path = "jsonpath={.spec.holderIdentity}"
    words = ("get", "lease", "elasticep-operator", f"--namespace={NAMESPACE}", f"--output={path}")
    return kubectl(plane, *words)


def test_a_stop_ends_it_and_frees_the_lease(plane: ControlPlane, start: Start) -> None:
    operator = start()
    eventually(operator.leads)
    assert operator.answer("/healthz") == (200, "ok\n")
    assert holder(plane) == "operator-1"
    assert operator.stop() == 0
    assert operator.last_words() == "stopped, as asked"
    assert holder(plane) == ""


def test_a_second_one_is_ready_and_waits_for_its_turn(plane: ControlPlane, start: Start) -> None:
    first = start(name="operator-1")
    eventually(first.leads)
    second = start(name="operator-2")
    waiting = "waiting for Lease elasticep-system/elasticep-operator, held by operator-1"
    eventually(lambda: waiting in [line["message"] for line in second.lines()])
    assert second.answer("/readyz") == (200, "ok\n")
    assert second.answer("/healthz") == (200, "ok\n")
    assert second.metric("elasticep_leader") == 0
    assert first.stop() == 0
    eventually(second.leads)
    assert holder(plane) == "operator-2"


def test_one_that_waits_can_be_stopped(start: Start) -> None:
    first = start(name="operator-1")
    eventually(first.leads)
    second = start(name="operator-2")
    eventually(lambda: second.answer("/readyz")[0] == 200)
    assert second.stop() == 0
    assert first.leads()


def test_without_election_no_lease_is_needed(plane: ControlPlane, start: Start) -> None:
    operator = start("--no-leader-election")
    eventually(operator.leads)
    assert kubectl(plane, "get", "leases", f"--namespace={NAMESPACE}", "--output=name") == ""
    assert operator.stop() == 0


def test_without_the_crd_it_says_how_to_install_it(start: Start, tmp_path: Path) -> None:
    with api_server(tmp_path / "bare", crd=False) as bare:
        operator = start(kubeconfig=bare.kubeconfig)
        assert operator.exit_code(within=60) == 1
    assert "does not serve elasticepgroups.elasticep.dev/v1alpha1" in operator.last_words()
    assert "kubectl apply --server-side -f crds/" in operator.last_words()


def test_without_permissions_it_says_which(
    plane: ControlPlane, start: Start, tmp_path: Path
) -> None:
    kubectl(plane, "create", "serviceaccount", "nobody", f"--namespace={NAMESPACE}")
    operator = start(kubeconfig=kubeconfig_for(plane, "nobody", path=tmp_path / "nobody"))
    assert operator.exit_code(within=60) == 1
    assert 'cannot list resource "elasticepgroups"' in operator.last_words()
    assert "--namespace" in operator.last_words()


def test_a_watch_that_is_forbidden_ends_it(
    plane: ControlPlane, start: Start, tmp_path: Path
) -> None:
    """One that went on without a watch would look alive and be blind."""
    kubectl(plane, "create", "serviceaccount", "blind", f"--namespace={NAMESPACE}")
    kubectl(
        plane,
        "create",
        "clusterrole",
        "blind",
        "--verb=get,list,watch",
        "--resource=elasticepgroups.elasticep.dev",
    )
    account = f"--serviceaccount={NAMESPACE}:blind"
    kubectl(plane, "create", "clusterrolebinding", "blind", "--clusterrole=blind", account)
    kubeconfig = kubeconfig_for(plane, "blind", path=tmp_path / "blind")
    operator = start("--no-leader-election", kubeconfig=kubeconfig)
    assert operator.exit_code(within=90) == 1
    assert any("pods is forbidden" in line.get("error", "") for line in operator.lines())


@contextmanager
def frozen(plane: ControlPlane) -> Iterator[None]:
    """The API server answers nobody, and no connection to it breaks."""
    [server] = [each for each in daemons.find(state=plane.directory) if "apiserver" in each.name]
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


def test_a_leader_that_loses_the_api_server_ends(plane: ControlPlane, start: Start) -> None:
    operator = start()
    eventually(operator.leads)
    with frozen(plane):
        assert operator.exit_code(within=30) == 1
    assert "could not be renewed" in operator.last_words()
