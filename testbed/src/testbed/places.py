"""Where the testbed keeps things: what may be deleted at any time, and what a running one needs."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Places:
    """The directories of one testbed.

    `cache` holds what can be made again, keyed by content.
    `state` holds what the running cluster needs and goes with `down`.
    `source` is the repository that the images are built from.
    """

    cache: Path
    state: Path
    source: Path

    @classmethod
    def from_environment(cls) -> "Places":
        """ELASTICEP_CACHE and ELASTICEP_STATE, or the usual places."""
        home_cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        cache = os.environ.get("ELASTICEP_CACHE") or Path(home_cache) / "elasticep"
        state = os.environ.get("ELASTICEP_STATE") or "/var/tmp/elasticep-testbed"  # noqa: S108 - root's own, and locked
        return cls(
            cache=Path(cache).resolve(),
            state=Path(state).resolve(),
            source=Path(__file__).resolve().parents[3],
        )

    @property
    def lock(self) -> Path:
        """Held by whoever changes the cluster; beside the state, since `down` empties that."""
        return self.state.with_name(self.state.name + ".lock")

    @property
    def record(self) -> Path:
        """What is up, or was coming up when its driver died."""
        return self.state / "record.json"

    @property
    def logs(self) -> Path:
        """A log for each process and each step."""
        return self.state / "logs"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's way in."""
        return self.state / "kubeconfig"

    @property
    def audit_log(self) -> Path:
        """One JSON line for each request that the API server answered."""
        return self.state / "audit.log"

    @property
    def programs(self) -> Path:
        """Kubectl and the cluster's other programs, by name."""
        return self.cache / "bin"

    def node(self, name: str) -> Path:
        """The disk of a node."""
        return self.state / "nodes" / name
