"""etcd and the API server: as part of the cluster, or alone for tests of the API.

Alone it needs no root and no network of its own:

    with control_plane(directory=tmp_path, report=report) as plane:
        subprocess.run(["kubectl", "--kubeconfig", plane.kubeconfig, "apply", ...])
"""

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

from testbed import daemons
from testbed.addresses import DNS_DOMAIN, KUBERNETES_SERVICE, SERVICE_NETWORK
from testbed.api import Api
from testbed.credentials import ADMIN, Credentials, make_credentials
from testbed.daemons import Daemon
from testbed.places import Places
from testbed.programs import build_kube
from testbed.progress import Report

LOOPBACK = IPv4Address("127.0.0.1")
_READY_SECONDS = 60.0

# Every request is worth a line: tests count the writes of a user from them.
_AUDIT_POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
"""


@dataclass(frozen=True, kw_only=True)
class ControlPlane:
    """Where etcd and the API server listen, and what they keep in `directory`."""

    directory: Path
    kube: Path
    credentials: Credentials
    address: IPv4Address
    api_port: int
    etcd_port: int
    peer_port: int

    @property
    def kubeconfig(self) -> Path:
        """The administrator's way in."""
        return self.credentials.kubeconfig(ADMIN)

    @property
    def audit_log(self) -> Path:
        """One JSON line for each request that the API server answered."""
        return self.directory / "audit.log"

    def start(self) -> None:
        """Both programs run and the API server serves.

        Raises TestbedError with the end of the log when one does not.
        """
        daemons.start("etcd", self._etcd(), state=self.directory)
        server = daemons.start("kube-apiserver", self._apiserver(), state=self.directory)
        api = Api.from_kubeconfig(self.kubeconfig)
        server.wait_until(api.is_ready, seconds=_READY_SECONDS, what="serving")

    def start_controllers(self) -> list[Daemon]:
        """The controller manager and the scheduler run."""
        return [
            daemons.start(name, argv, state=self.directory)
            for name, argv in (
                ("kube-controller-manager", self._controller_manager()),
                ("kube-scheduler", self._scheduler()),
            )
        ]

    def _etcd(self) -> list[str]:
        client = f"http://{LOOPBACK}:{self.etcd_port}"
        peer = f"http://{LOOPBACK}:{self.peer_port}"
        return [
            str(self.kube),
            "etcd",
            f"--data-dir={self.directory / 'etcd'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        ]

    def _apiserver(self) -> list[str]:
        files = self.credentials.directory
        (self.directory / "audit-policy.yaml").write_text(_AUDIT_POLICY, "utf-8")
        # The kubernetes Service cannot have an endpoint on the loopback.
        endpoints = "none" if self.address.is_loopback else "lease"
        return [
            str(self.kube),
            "kube-apiserver",
            f"--etcd-servers=http://{LOOPBACK}:{self.etcd_port}",
            f"--bind-address={self.address}",
            f"--advertise-address={self.address}",
            f"--secure-port={self.api_port}",
            f"--endpoint-reconciler-type={endpoints}",
            f"--service-cluster-ip-range={SERVICE_NETWORK}",
            f"--tls-cert-file={files / 'apiserver.crt'}",
            f"--tls-private-key-file={files / 'apiserver.key'}",
            f"--client-ca-file={files / 'ca.crt'}",
            f"--token-auth-file={files / 'tokens.csv'}",
            f"--service-account-issuer=https://kubernetes.default.svc.{DNS_DOMAIN}",
            f"--service-account-key-file={files / 'service-accounts.key'}",
            f"--service-account-signing-key-file={files / 'service-accounts.key'}",
            f"--kubelet-client-certificate={files / 'apiserver-kubelet-client.crt'}",
            f"--kubelet-client-key={files / 'apiserver-kubelet-client.key'}",
            # `kubectl logs` would look the node's name up in this machine's DNS otherwise.
            "--kubelet-preferred-address-types=InternalIP",
            f"--proxy-client-cert-file={files / 'front-proxy-client.crt'}",
            f"--proxy-client-key-file={files / 'front-proxy-client.key'}",
            f"--requestheader-client-ca-file={files / 'front-proxy-ca.crt'}",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-username-headers=X-Remote-User",
            "--authorization-mode=Node,RBAC",
            # The second, which OpenShift has on, asks whoever makes an object that blocks the
            # deletion of its owner for a right to the owner's finalizers.
            "--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement",
            "--allow-privileged",
            # A lost node's pods are deleted in a time that a test can wait for, not in 300 s.
            "--default-not-ready-toleration-seconds=20",
            "--default-unreachable-toleration-seconds=20",
            f"--audit-policy-file={self.directory / 'audit-policy.yaml'}",
            f"--audit-log-path={self.audit_log}",
            "--audit-log-maxsize=2048",
        ]

    def _controller_manager(self) -> list[str]:
        files = self.credentials.directory
        kubeconfig = self.credentials.kubeconfig("system:kube-controller-manager")
        return [
            str(self.kube),
            "kube-controller-manager",
            f"--kubeconfig={kubeconfig}",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
            # No port of its own: nobody asks it, and two clusters would fight for it.
            "--secure-port=0",
            f"--root-ca-file={files / 'ca.crt'}",
            f"--cluster-signing-cert-file={files / 'ca.crt'}",
            f"--cluster-signing-key-file={files / 'ca.key'}",
            f"--service-account-private-key-file={files / 'service-accounts.key'}",
            "--use-service-account-credentials",
            "--leader-elect=false",
            # A silent node is NotReady after 16 s: twice the time between a kubelet's reports.
            "--node-monitor-period=2s",
            "--node-monitor-grace-period=16s",
            "--horizontal-pod-autoscaler-sync-period=5s",
        ]

    def _scheduler(self) -> list[str]:
        kubeconfig = self.credentials.kubeconfig("system:kube-scheduler")
        return [
            str(self.kube),
            "kube-scheduler",
            f"--kubeconfig={kubeconfig}",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
            "--secure-port=0",
            "--leader-elect=false",
        ]


def serving_names(*others: str | IPv4Address) -> list[str | IPv4Address]:
    """What clients inside and outside a cluster call its API server."""
    service = ("kubernetes", "kubernetes.default", "kubernetes.default.svc")
    full = f"kubernetes.default.svc.{DNS_DOMAIN}"
    return [*service, full, "localhost", LOOPBACK, KUBERNETES_SERVICE, *others]


@contextmanager
def control_plane(
    *, directory: Path, report: Report, places: Places | None = None, controllers: bool = False
) -> Iterator[ControlPlane]:
    """An API server of one's own on free ports of the loopback, until the block ends.

    With controllers it also collects garbage and serves quotas; there are never nodes.
    """
    kube = build_kube(places=places or Places.from_environment(), report=report)
    api_port, etcd_port, peer_port = free_ports(3)
    credentials = make_credentials(
        directory / "credentials", address=LOOPBACK, port=api_port, names=serving_names()
    )
    plane = ControlPlane(
        directory=directory.resolve(),
        kube=kube,
        credentials=credentials,
        address=LOOPBACK,
        api_port=api_port,
        etcd_port=etcd_port,
        peer_port=peer_port,
    )
    with ExitStack() as undo:
        undo.callback(_end, plane.directory)
        plane.start()
        if controllers:
            plane.start_controllers()
        yield plane


def _end(directory: Path) -> None:
    # Nothing needs saving: killed at once, a port is free at once.
    daemons.end(lambda process: process.parent == os.getpid(), state=directory)


def free_ports(count: int) -> list[int]:
    """Ports of the loopback that nobody uses; all are held open until all are known."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((str(LOOPBACK), 0))
        return [each.getsockname()[1] for each in sockets]
