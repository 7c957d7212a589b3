"""One real SGLang release as the judge of command lines, and groups whose lines it judges."""

import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from elasticep.api import names
from elasticep.cli.render import rendered
from elasticep.engine.contract import Contract
from elasticep.schema.verdict import findings
from sglang_resolver.verdict import Verdict
from sglang_resolver.warm_worker import WarmWorker

DEVICES = ("mlx5_0", "mlx5_1")
LEADER_IP = "10.0.0.7"
MODEL = "deepseek-ai/DeepSeek-V2-Lite"
ADMIN_KEY = "-begins-with-a-dash"
"""As one key in 64 does that is made at random, and argparse takes such a word for a flag."""

# At run time the operator fills in the one, the kubelet the others.
_VARIABLES = {
    "$(LEADER_IP)": LEADER_IP,
    "$(POD_IP)": LEADER_IP,
    f"$({names.ADMIN_KEY_VARIABLE})": ADMIN_KEY,
}

Line = list[str]
Group = dict[str, Any]


@dataclass(frozen=True)
class Judge:
    contract: Contract
    worker: WarmWorker

    def group(
        self,
        *,
        leader_ranks: int = 4,
        joiner_ranks: int = 2,
        joiners: int = 2,
        args: Sequence[str] = (),
        devices: Sequence[str] = ("mlx5_0",),
    ) -> Group:
        """A group at the largest size that it has reserved, of this release."""
        return {
            "apiVersion": names.API_VERSION,
            "kind": names.KIND,
            "metadata": {"name": "deepseek", "namespace": "default"},
            "spec": {
                "replicas": 1 + joiners,
                "model": {"path": MODEL, "trustRemoteCode": True},
                "engine": {
                    "image": f"lmsysorg/sglang:v{self.contract.version}",
                    "args": list(args),
                },
                "leader": {"ranks": leader_ranks},
                "joiner": {"ranks": joiner_ranks},
                "maxEPSize": leader_ranks + joiners * joiner_ranks,
                "rdma": {"resource": "rdma/hca_shared_devices_a", "devices": list(devices)},
            },
        }

    def verdict(self, line: Sequence[str]) -> Verdict:
        return self.worker.resolve(line, infiniband=DEVICES)

    def verdicts(self, lines: Iterable[Sequence[str]]) -> list[Verdict]:
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(self.verdict, lines))

    def refused_arguments(self, arguments: Sequence[str]) -> set[str]:
        """Those that admission does not let into `engine.args`."""
        refused = set()
        for start in range(0, len(arguments), 100):
            batch = arguments[start : start + 100]
            for finding in findings(self.group(args=batch)):
                item = re.fullmatch(r"spec\.engine\.args\[(\d+)\]", finding.field)
                assert item is not None, finding
                refused.add(batch[int(item[1])])
        return refused


def lines(group: Group) -> list[Line]:
    """The command lines of all pods of a group that admission takes: leader, then joiners."""
    assert findings(group) == ()
    pods = (manifest for manifest in rendered(group) if manifest["kind"] == "Pod")
    return [[_expanded(item) for item in pod["spec"]["containers"][0]["args"]] for pod in pods]


def _expanded(argument: str) -> str:
    for variable, value in _VARIABLES.items():
        argument = argument.replace(variable, value)
    return argument


def with_value(line: Line, flag: str, value: str) -> Line:
    """The line with another value for a flag that it has."""
    at = line.index(flag)
    return [*line[: at + 1], value, *line[at + 2 :]]


def without(line: Line, flag: str, *, values: int) -> Line:
    """The line without a flag that it has, and without the flag's values."""
    at = line.index(flag)
    return [*line[:at], *line[at + 1 + values :]]
