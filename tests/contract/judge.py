"""One real SGLang version as the judge of command lines."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from elasticep.engine.arguments import Launch, joiner_arguments, leader_arguments
from elasticep.engine.contract import Contract
from sglang_resolver.verdict import Verdict
from sglang_resolver.warm_worker import WarmWorker

DEVICES = ("mlx5_0", "mlx5_1")
LEADER_ADDRESS = "10.0.0.7"
PARALLEL = 2


@dataclass(frozen=True)
class Judge:
    contract: Contract
    worker: WarmWorker

    @property
    def release(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.contract.version.split("."))

    def leader(self, launch: Launch) -> list[str]:
        return list(leader_arguments(self.contract, launch, own_address=LEADER_ADDRESS))

    def joiner(self, launch: Launch, offset: int) -> list[str]:
        return list(
            joiner_arguments(self.contract, launch, offset=offset, leader_address=LEADER_ADDRESS)
        )

    def verdict(self, line: Sequence[str]) -> Verdict:
        return self.worker.resolve(line, infiniband=DEVICES)

    def verdicts(self, lines: Iterable[Sequence[str]]) -> list[Verdict]:
        with ThreadPoolExecutor(PARALLEL) as pool:
            return list(pool.map(self.verdict, lines))


def launch(**changes: Any) -> Launch:
    """A group that grows 4 → 6 → 8, with changes."""
    return Launch(
        **{
            "model_path": "deepseek-ai/DeepSeek-V2-Lite",
            "trust_remote_code": True,
            "leader_ranks": 4,
            "joiner_ranks": 2,
            "max_ep_size": 8,
            "http_port": 30000,
            "dist_init_port": 20000,
            "scale_timeout_seconds": 1800,
            "ib_devices": ("mlx5_0",),
            "extra_args": (),
            "admin_key": "$(ELASTICEP_ADMIN_KEY)",
            **changes,
        }
    )


def with_value(line: Sequence[str], flag: str, value: str) -> list[str]:
    """The line with another value for a flag that it has."""
    at = line.index(flag)
    return [*line[: at + 1], value, *line[at + 2 :]]


def without(line: Sequence[str], flag: str, *, values: int) -> list[str]:
    """The line without a flag that it has, and without the flag's values."""
    at = line.index(flag)
    return [*line[:at], *line[at + 1 + values :]]
