"""The group of the demo shrinks, and gets another engine image, while clients go on asking."""

import json
from dataclasses import dataclass

from rich.console import Console

from demo import acts
from demo.diagnosis import DemoError
from testbed.cluster import Cluster
from testbed.traffic import Fate, Flow, TrafficReport, steady_traffic

_PORT = 30000
_AT_ONCE = json.dumps({"spec": {"scaleDown": {"stabilizationSeconds": 0}}})
_NEWER = json.dumps({"spec": {"engine": {"image": f"lmsysorg/sglang:v{acts.ENGINE_VERSIONS[1]}"}}})


@dataclass(frozen=True, kw_only=True)
class Move:
    """A change of the group that no client should notice."""

    title: str
    words: tuple[str, ...]

    @property
    def command(self) -> str:
        """What a reader can type."""
        return " ".join(["kubectl", *(f"'{each}'" if "{" in each else each for each in self.words)])


_GROUP = f"eepg/{acts.GROUP}"
MOVES = (
    Move(title="It shrinks from 8 ranks to 4", words=("scale", _GROUP, "--replicas=1")),
    Move(
        title="It gets a newer engine, by another image",
        words=("patch", _GROUP, "--type=merge", f"--patch={_NEWER}"),
    ),
)


def play(
    cluster: Cluster, move: Move, *, console: Console, deadline_seconds: float
) -> TrafficReport:
    """What became of the requests that came during one move.

    Raises DemoError when the group does not come to rest, or a request was not served.
    """
    here = f"--namespace={acts.NAMESPACE}"
    cluster.kubectl("patch", _GROUP, "--type=merge", f"--patch={_AT_ONCE}", here)
    address = cluster.kubectl(
        "get", f"service/{acts.GROUP}", here, "--output=jsonpath={.spec.clusterIP}"
    )
    with steady_traffic(Flow(url=f"http://{address}:{_PORT}")) as traffic:
        acts.change(cluster, *move.words, console=console, deadline_seconds=deadline_seconds)
    report = traffic.report()
    if len(report.of(Fate.SERVED)) != len(report.outcomes):
        raise DemoError(f"requests were not served: {report}")
    return report
