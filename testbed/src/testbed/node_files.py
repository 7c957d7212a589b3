"""What a node's programs are configured with."""

import json
import shutil
from pathlib import Path

import yaml

from testbed.addresses import DNS_DOMAIN, DNS_SERVICE, NodeAddress
from testbed.catalogue import PAUSE
from testbed.credentials import Credentials
from testbed.programs import Programs

# Where the node finds our files: a directory that no package has.
HOME = Path("/var/lib/testbed")

_CONTAINERD = """\
version = 2
# The last one makes /opt/containerd, which would outlive us.
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
  "io.containerd.internal.v1.opt",
]
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  # Without CAP_SYS_RESOURCE runc may not lower a score: "can't get final child's PID from pipe".
  restrict_oom_score_adj = true
  enable_unprivileged_ports = true
  enable_unprivileged_icmp = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{home}/cni"
"""


def write_node_files(
    disk: Path, *, address: NodeAddress, programs: Programs, credentials: Credentials
) -> None:
    """The node's disk holds its programs and their configuration."""
    home = disk / "lib" / "testbed"
    (home / "cni").mkdir(parents=True, exist_ok=True)
    (disk / "log").mkdir(exist_ok=True)
    _place_binary(programs.kube, home / "kube")
    _place_binary(programs.pause, home / "pause")
    (home / "containerd.toml").write_text(_CONTAINERD.format(pause=PAUSE, home=HOME), "utf-8")
    (home / "cni" / "10-testbed.conflist").write_text(json.dumps(_cni(address)), "utf-8")
    (home / "kubelet.yaml").write_text(yaml.safe_dump(_kubelet()), "utf-8")
    shutil.copy(credentials.directory / "ca.crt", home)
    for user in (f"system:node:{address.name}", "system:kube-proxy"):
        shutil.copy(credentials.kubeconfig(user), home)


def _place_binary(binary: Path, target: Path) -> None:
    """A link where one is possible: the cache may forget its name, the node keeps the file."""
    target.unlink(missing_ok=True)
    try:
        target.hardlink_to(binary)
    except OSError:
        shutil.copy2(binary, target)


def _cni(address: NodeAddress) -> object:
    # Not the bridge plugin: between two pods on one bridge a Service's answer would go straight
    # back, past the address translation, unless this machine's kernel filters bridges.
    return {
        "cniVersion": "1.0.0",
        "name": "testbed",
        "plugins": [
            {
                "type": "ptp",
                "ipam": {
                    "type": "host-local",
                    "ranges": [[{"subnet": str(address.pods)}]],
                    "routes": [{"dst": "0.0.0.0/0"}],
                },
            }
        ],
    }


def _kubelet() -> object:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(HOME / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
        "clusterDNS": [str(DNS_SERVICE)],
        "clusterDomain": DNS_DOMAIN,
        # Pods look names up in the cluster alone: this machine's servers are not theirs.
        "resolvConf": "",
        "cgroupDriver": "cgroupfs",
        # The node's limits are this machine's: nothing is reserved for anybody.
        "enforceNodeAllocatable": [],
        "failCgroupV1": False,
        "failSwapOn": False,
        "makeIPTablesUtilChains": False,
        "volumePluginDir": "/var/lib/kubelet/plugins/volume",
        # A full disk of this machine is not the nodes' matter: they neither evict nor collect.
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        "evictionHard": {
            "memory.available": "16Mi",
            "nodefs.available": "0%",
            "nodefs.inodesFree": "0%",
            "imagefs.available": "0%",
            "imagefs.inodesFree": "0%",
        },
        # Frequent enough that a lost node is noticed in seconds; see the controller manager.
        "nodeStatusUpdateFrequency": "4s",
        "nodeStatusReportFrequency": "4s",
        "nodeLeaseDurationSeconds": 20,
    }
