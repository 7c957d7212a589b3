"""`python -m demo` plays the whole demo, `python -m demo moves` what can follow it.

`python -m demo install` only installs the operator.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console

from demo import acts, moves, proof, timing
from demo.diagnosis import DemoError, diagnosis
from testbed.cluster import Cluster
from testbed.errors import TestbedError
from testbed.places import Places
from testbed.progress import open_report

_INTRODUCTION = """\
[bold]elasticep[/]: one YAML file becomes an SGLang expert-parallel group
that grows while it serves.

Kubernetes is real here: its own programs, three nodes, containers. GPUs and
the engine are simulated, except that SGLang's own argument resolver judges
every command line."""

_FAREWELL = """\
  export KUBECONFIG={kubeconfig}
  export PATH={programs}:$PATH
  kubectl get eepg,pods,services
  kubectl describe eepg {group}
  kubectl logs -n {operator_namespace} deployment/{operator}
  kubectl delete eepg {group}        [dim]nothing of it is left behind[/]

  make demo-moves                          [dim]it shrinks, and is rolled out, under load[/]
  make down                                [dim]ends all of this; what was built stays cached[/]
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Play it; the answer is the exit code."""
    parser = argparse.ArgumentParser(prog="demo", description="A group grows in a real cluster.")
    parser.add_argument("act", nargs="?", choices=["all", "install", "moves"], default="all")
    parser.add_argument("--deadline", type=float, default=180.0, help="seconds for the growth")
    options = parser.parse_args(argv)
    console = Console(highlight=False)
    try:
        if options.act == "install":
            acts.install(Cluster.running())
        elif options.act == "moves":
            _Demo(console=console).play_moves(deadline_seconds=options.deadline)
        else:
            _Demo(console=console).play(deadline_seconds=options.deadline)
    except (TestbedError, DemoError) as error:
        console.print(f"demo: {error}", style="red", markup=False, soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        console.print("demo: interrupted; make down ends what is up")
        return 130
    return 0


class _Demo:
    """The acts in their order, on a console, timed."""

    def __init__(self, *, console: Console) -> None:
        self._console = console
        self._steps: list[timing.Step] = []
        self._act = 0

    def play(self, *, deadline_seconds: float) -> None:
        self._console.print(_INTRODUCTION)
        places = Places.from_environment()
        with self._timed("A cluster of three GPU nodes boots", "cluster"), open_report() as report:
            cluster = acts.boot(places, report)
            acts.await_resolver(report)
        with self._timed("The operator is installed", "operator"):
            self._say_command(f"kubectl apply --server-side -k {acts.BASE}")
            acts.install(cluster)
        acts.clear(cluster)
        self._heading("The group comes up with 4 ranks and grows to 8")
        self._say_command(f"kubectl apply -f {acts.EXAMPLE}")
        try:
            growth = acts.grow(cluster, console=self._console, deadline_seconds=deadline_seconds)
            self._prove(cluster)
        except DemoError:
            self._diagnose(cluster)
            raise
        self._sum_up(growth)
        self._say_farewell(cluster)

    def play_moves(self, *, deadline_seconds: float) -> None:
        """What comes after the demo: the same group shrinks and is rolled out, under load."""
        cluster = Cluster.running()
        with open_report() as report:
            acts.await_resolver(report, version=acts.ENGINE_VERSIONS[1])
        for move in moves.MOVES:
            self._heading(move.title)
            self._say_command(move.command)
            try:
                seen = moves.play(
                    cluster, move, console=self._console, deadline_seconds=deadline_seconds
                )
            except DemoError:
                self._diagnose(cluster)
                raise
            self._say_output(f"\nMeanwhile: {seen}")
        self._say_command("kubectl get eepg --output=wide")
        self._say_output(cluster.kubectl("get", "eepg", "-o", "wide", f"-n={acts.NAMESPACE}"))

    def _prove(self, cluster: Cluster) -> None:
        self._heading("It serves, and says no to what it has no room for")
        for words in (["get", "eepg"], ["get", "pods", "-o", "wide"]):
            self._say_command(f"kubectl {' '.join(words)}")
            self._say_output(cluster.kubectl(*words, f"--namespace={acts.NAMESPACE}"))
        answers = (
            proof.complete(cluster, group=acts.GROUP, namespace=acts.NAMESPACE),
            proof.refusal(cluster, group=acts.GROUP, namespace=acts.NAMESPACE, replicas=4),
        )
        for answer in answers:
            self._say_command(answer.command)
            self._say_output(answer.output)

    def _sum_up(self, growth: acts.Growth) -> None:
        first = min(growth.served_at)
        leader = growth.served_at[first] - growth.applied_at
        self._steps.append(timing.Step(title=f"leader: EP {first}", seconds=leader))
        address = next(pod.address for pod in growth.scene.pods if pod.role == "leader")
        joined = timing.joinings(served_at=growth.served_at, operations=proof.operations(address))
        self._heading("How long it took")
        self._console.print(timing.table(self._steps, joined))
        self._console.print(
            f"\nOn top of the engine's own work came [bold]{timing.median_added(joined):.2f} s[/]"
            " per joiner, at the median."
        )

    def _say_farewell(self, cluster: Cluster) -> None:
        self._heading("Look around")
        self._console.print(
            _FAREWELL.format(
                kubeconfig=cluster.kubeconfig,
                programs=cluster.places.programs,
                group=acts.GROUP,
                operator=acts.OPERATOR,
                operator_namespace=acts.OPERATOR_NAMESPACE,
            ),
            soft_wrap=True,
        )

    def _diagnose(self, cluster: Cluster) -> None:
        self._heading("What is there instead")
        texts = diagnosis(
            cluster,
            group=acts.GROUP,
            namespace=acts.NAMESPACE,
            operator=acts.OPERATOR,
            operator_namespace=acts.OPERATOR_NAMESPACE,
        )
        for text in texts:
            self._say_output(text)

    @contextmanager
    def _timed(self, heading: str, title: str) -> Iterator[None]:
        self._heading(heading)
        begun = time.monotonic()
        yield
        self._steps.append(timing.Step(title=title, seconds=time.monotonic() - begun))

    def _heading(self, text: str) -> None:
        self._act += 1
        self._console.print(f"\n[bold]{self._act}. {text}[/]\n")

    def _say_command(self, command: str) -> None:
        self._console.print(f"$ {command}", style="cyan", markup=False, soft_wrap=True)

    def _say_output(self, text: str) -> None:
        self._console.print(f"{text.rstrip()}\n", markup=False, soft_wrap=True)


if __name__ == "__main__":
    sys.exit(main())
