"""Words for what a test does to a group and sees of it."""

import json
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import yaml

from testbed.cluster import Cluster
from testbed.errors import TestbedError

Answer = TypeVar("Answer")


def eventually(
    look: Callable[[], Answer], *, within: float, explain: Callable[[], str] = str
) -> Answer:
    """The first answer that is true.

    Raises:
        AssertionError: there was none within so many seconds; with what ``explain`` says.
    """
    deadline = time.monotonic() + within
    while True:
        answer = look()
        if answer:
            return answer
        if time.monotonic() > deadline:
            message = f"not within {within:g} s\n{explain()}"
            raise AssertionError(message)
        time.sleep(0.2)


def with_faults(*faults: dict[str, Any]) -> dict[str, Any]:
    """A pod template that switches faults on in the engine."""
    env = [{"name": "ELASTICEP_SIM_FAULTS", "value": json.dumps(faults)}]
    return {"spec": {"containers": [{"name": "engine", "env": env}]}}


@dataclass(frozen=True, kw_only=True)
class Namespace:
    """One namespace and what is in it."""

    cluster: Cluster
    name: str

    def kubectl(self, *words: str, stdin: str | None = None) -> str:
        """What kubectl printed, in this namespace."""
        return self.cluster.kubectl("-n", self.name, *words, stdin=stdin)

    def refused(self, *words: str, stdin: str | None = None) -> str:
        """What kubectl said when it failed, as it must."""
        try:
            printed = self.kubectl(*words, stdin=stdin)
        except TestbedError as error:
            return str(error)
        message = f"kubectl {' '.join(words)} was not refused: {printed}"
        raise AssertionError(message)

    def items(self, kind: str) -> list[dict[str, Any]]:
        """Every object of a kind."""
        found: list[dict[str, Any]] = json.loads(self.kubectl("get", kind, "-o", "json"))["items"]
        return found

    def pods(self) -> list[dict[str, Any]]:
        """Every pod."""
        return self.items("pods")

    def create_group(self, name: str = "lite", **changes: Any) -> "LiveGroup":
        """A group of leader 4, joiners 2, at most 8, with top-level changes of its spec."""
        spec: dict[str, Any] = {
            "replicas": 3,
            "model": {"path": "deepseek-ai/DeepSeek-V2-Lite", "trustRemoteCode": True},
            "engine": {"image": "lmsysorg/sglang:v0.5.19"},
            "leader": {"ranks": 4},
            "joiner": {"ranks": 2},
            "maxEPSize": 8,
            "rdma": {"resource": "rdma/hca_shared_devices_a", "devices": ["mlx5_0"]},
        }
        manifest = {
            "apiVersion": "elasticep.dev/v1alpha1",
            "kind": "ElasticEPGroup",
            "metadata": {"name": name},
            "spec": {**spec, **changes},
        }
        self.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(manifest))
        return LiveGroup(namespace=self, name=name)


@dataclass(frozen=True, kw_only=True)
class LiveGroup:
    """One group as the cluster shows it."""

    namespace: Namespace
    name: str

    def read(self) -> dict[str, Any]:
        """The object."""
        text = self.namespace.kubectl("get", "eepg", self.name, "-o", "json")
        found: dict[str, Any] = json.loads(text)
        return found

    def status(self) -> dict[str, Any]:
        """Its status; empty before the first report."""
        found: dict[str, Any] = self.read().get("status", {})
        return found

    def effective(self) -> int | None:
        """The EP size that it says it serves with."""
        size: int | None = self.status().get("epSize", {}).get("effective")
        return size

    def condition(self, kind: str) -> tuple[str, str]:
        """Status and reason of a condition."""
        for condition in self.status().get("conditions", []):
            if condition["type"] == kind:
                return condition["status"], condition["reason"]
        return "Missing", ""

    def message(self, kind: str) -> str:
        """The sentence of a condition."""
        conditions = self.status().get("conditions", [])
        return next((str(c["message"]) for c in conditions if c["type"] == kind), "")

    def await_size(self, ranks: int, *, within: float = 60) -> None:
        """Wait until the group is ready with that EP size."""
        eventually(
            lambda: self.effective() == ranks and self.condition("Ready")[0] == "True",
            within=within,
            explain=self.describe,
        )

    def await_condition(self, kind: str, status: str, reason: str, *, within: float = 60) -> None:
        """Wait until a condition has that status and reason."""
        eventually(
            lambda: self.condition(kind) == (status, reason), within=within, explain=self.describe
        )

    def describe(self) -> str:
        """What a person would look at first."""
        pods = self.namespace.kubectl("get", "pods", "-o", "wide")
        return f"{self.namespace.kubectl('describe', 'eepg', self.name)}\n{pods}"

    def scale(self, replicas: int) -> None:
        """As ``kubectl scale`` does it: through the scale subresource."""
        self.namespace.kubectl("scale", f"eepg/{self.name}", f"--replicas={replicas}")

    def change(self, **spec: Any) -> None:
        """Merge these top-level fields into the spec."""
        patch = json.dumps({"spec": spec})
        self.namespace.kubectl("patch", "eepg", self.name, "--type=merge", "-p", patch)

    def pods(self, role: str = "") -> list[dict[str, Any]]:
        """Its pods that nobody is deleting, by rank; only of one role if given."""
        mine = [
            pod
            for pod in self.namespace.pods()
            if pod["metadata"]["labels"].get("elasticep.dev/group-name") == self.name
            and "deletionTimestamp" not in pod["metadata"]
            and role in {"", pod["metadata"]["labels"]["elasticep.dev/role"]}
        ]
        return sorted(mine, key=_rank)

    def leader(self) -> dict[str, Any]:
        """Its leader pod."""
        (pod,) = self.pods("leader")
        return pod

    def engine_state(self) -> dict[str, Any]:
        """What the leader's simulated engine knows of itself."""
        return self._ask_leader("/sim/state")

    def accepted_requests(self) -> dict[str, int]:
        """How often the leader's engine has accepted each EP size, in its present life."""
        found: dict[str, int] = self._ask_leader("/sim/operations")["accepted"]
        return found

    def _ask_leader(self, path: str) -> dict[str, Any]:
        url = f"http://{self.leader()['status']['podIP']}:30000{path}"
        with urllib.request.urlopen(url, timeout=5) as response:
            found: dict[str, Any] = json.load(response)
            return found

    def inject(self, *faults: dict[str, Any]) -> None:
        """Switch faults on in the leader's engine."""
        url = f"http://{self.leader()['status']['podIP']}:30000/sim/faults"
        body = json.dumps(list(faults)).encode()
        request = urllib.request.Request(url, data=body, method="POST")
        request.add_header("Content-Type", "application/json")
        urllib.request.urlopen(request, timeout=5).close()

    def url(self) -> str:
        """Where clients find it: the Service's ClusterIP."""
        service = json.loads(self.namespace.kubectl("get", "service", self.name, "-o", "json"))
        return f"http://{service['spec']['clusterIP']}:30000"

    def complete(self, *, tokens: int = 1) -> dict[str, Any]:
        """A completion, through the Service's ClusterIP."""
        url = f"{self.url()}/v1/completions"
        body = json.dumps({"model": "default", "prompt": "Hello", "max_tokens": tokens}).encode()
        request = urllib.request.Request(url, data=body, method="POST")
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=10 + tokens) as response:
            found: dict[str, Any] = json.load(response)
            return found


def _rank(pod: dict[str, Any]) -> int:
    return int(pod["metadata"]["labels"].get("elasticep.dev/rank-offset", "0"))
