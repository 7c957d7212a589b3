"""Asks the group that has grown, as a client, as its owner and as the engine's confidant."""

import json
import subprocess
from dataclasses import dataclass
from typing import Any

from demo.diagnosis import DemoError
from demo.web import ask
from testbed.cluster import Cluster

_MODEL_PORT = 30000


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A command that a reader can repeat, and what came of it."""

    command: str
    output: str


def complete(cluster: Cluster, *, group: str, namespace: str) -> Answer:
    """One token of completion, asked of the Service's ClusterIP from this machine.

    Raises DemoError when none is given.
    """
    address = cluster.kubectl(
        "get", "service", group, f"--namespace={namespace}", "--output=jsonpath={.spec.clusterIP}"
    )
    url = f"http://{address}:{_MODEL_PORT}/v1/completions"
    body = json.dumps({"prompt": "The capital of France is", "max_tokens": 1})
    answer = json.loads(ask(url, body=body))
    choice = answer["choices"][0]
    return Answer(
        command=f"curl {url} -H 'Content-Type: application/json' -d '{body}'",
        output=json.dumps({"model": answer["model"], "text": choice["text"]}),
    )


def refusal(cluster: Cluster, *, group: str, namespace: str, replicas: int) -> Answer:
    """What the API server says to a size that the group has no room for.

    Raises DemoError when it is not refused.
    """
    words = ["kubectl", "scale", f"eepg/{group}", f"--replicas={replicas}"]
    program = cluster.places.programs / "kubectl"
    done = subprocess.run(
        [program, f"--kubeconfig={cluster.kubeconfig}", f"--namespace={namespace}", *words[1:]],
        check=False,
        capture_output=True,
        text=True,
    )
    command = " ".join(words)
    if done.returncode == 0:
        raise DemoError(f"{command} was not refused: {done.stdout}")
    return Answer(command=command, output=done.stderr.strip())


def operations(address: str) -> list[dict[str, Any]]:
    """The simulated engine's own record of its scale requests.

    `address` is the leader pod's, which this machine has a route to.
    """
    report = json.loads(ask(f"http://{address}:{_MODEL_PORT}/sim/operations"))
    found: list[dict[str, Any]] = report["operations"]
    return found
