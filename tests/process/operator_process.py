"""The operator as a process, under the permissions that it is installed with."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import yaml
from tests.kube.api_server import kubectl, wait_for_groups

from testbed.controlplane import ControlPlane, free_ports

NAMESPACE = "elasticep-system"
USER = f"system:serviceaccount:{NAMESPACE}:elasticep-operator"
PATIENCE = 60.0
"""Seconds in which all that must happen happens on the slowest of machines."""

ROOT = Path(__file__).parents[2]


def install(plane: ControlPlane) -> None:
    """All that `deploy/` installs; its Deployment makes no pod, for want of controllers."""
    kubectl(plane, "apply", "--server-side", f"--kustomize={ROOT / 'deploy/kustomize/base'}")
    wait_for_groups(plane)


def kubeconfig_for(plane: ControlPlane, account: str, *, path: Path) -> Path:
    """The way in for a service account of the operator's namespace."""
    token = kubectl(plane, "create", "token", account, f"--namespace={NAMESPACE}").strip()
    config = yaml.safe_load(plane.kubeconfig.read_text("utf-8"))
    config["users"][0]["user"] = {"token": token}
    path.write_text(yaml.safe_dump(config), "utf-8")
    return path


@dataclass(frozen=True, kw_only=True)
class OperatorProcess:
    """One process of the operator, and what it shows of itself."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    def stop(self) -> int:
        """Stopped as a kubelet would; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.exit_code(within=25)

    def exit_code(self, *, within: float) -> int:
        return self.process.wait(timeout=within)

    def lines(self) -> list[dict[str, Any]]:
        """Its log."""
        return [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]

    def last_words(self) -> str:
        message: str = self.lines()[-1]["message"]
        return message

    def answer(self, path: str) -> tuple[int, str]:
        """What it answers on its port; 0 while it does not."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def metric(self, series: str) -> float | None:
        """The value of one series, spelled as on the page."""
        for line in self.answer("/metrics")[1].splitlines():
            name, _, value = line.rpartition(" ")
            if name == series:
                return float(value)
        return None

    def leads(self) -> bool:
        return self.metric("elasticep_leader") == 1


class Start(Protocol):
    """Begins a process that ends at the latest with the test."""

    def __call__(
        self, *arguments: str, kubeconfig: Path | None = None, name: str = "operator-1"
    ) -> OperatorProcess:
        """A process with these flags; with the operator's own permissions if not told others."""


def start(*arguments: str, kubeconfig: Path, directory: Path, name: str) -> OperatorProcess:
    """A process begins; it may not be up yet."""
    [port] = free_ports(1)
    log = directory / f"{name}-{port}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "elasticep", "run", f"--health-port={port}", *arguments],
            env={
                **os.environ,
                "KUBECONFIG": str(kubeconfig),
                "POD_NAME": name,
                "POD_NAMESPACE": NAMESPACE,
            },
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    return OperatorProcess(process=process, port=port, log=log)


def eventually(holds: Callable[[], object], *, within: float = PATIENCE) -> None:
    """It holds before long."""
    deadline = time.monotonic() + within
    while not holds():
        assert time.monotonic() < deadline, "it does not come to hold"
        time.sleep(0.05)
