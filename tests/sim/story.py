"""One story: a group, what happens around it, and an operator; told as it goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.sim.api_server import START, ApiServer
from tests.sim.control import Trouble
from tests.sim.kubelet import Nodes
from tests.sim.laws import Laws
from tests.sim.operator_process import Operator
from tests.sim.pods import SimPod
from tests.sim.specs import USUAL, Ways, group_spec

LONGEST_ROUND = timedelta(seconds=15)
"""Every request of the operator has a timeout: no round sees a leader load between two steps."""

READS = ("reads the", "asks the", "has a token")


@dataclass(eq=False, kw_only=True)
class Story:
    """The world of one run."""

    tell: Callable[[str], None] = print
    template: str = "plain"
    replicas: int = 3
    ways: Ways = USUAL
    api: ApiServer = field(init=False)
    nodes: Nodes = field(init=False)
    laws: Laws = field(init=False)
    operator: Operator = field(init=False)

    def __post_init__(self) -> None:
        """The user has just applied the group."""
        self.api = ApiServer(spec=group_spec(self.template, self.replicas, ways=self.ways))
        self.nodes = Nodes(api=self.api)
        self.laws = Laws(api=self.api, nodes=self.nodes)
        self.operator = Operator(api=self.api, nodes=self.nodes, laws=self.laws)

    @property
    def now(self) -> datetime:
        """The time that everybody reads off the same clock."""
        return self.api.now

    def says(self, line: str) -> None:
        """One line of the story."""
        self.tell(f"{(self.now - START).total_seconds():8.2f} s  {line}")

    def time_passes(self, span: timedelta) -> None:
        """Everybody's clock goes on; a round that takes too long ends with its process."""
        self.api.now += span
        if self.operator.round and self.now > self.operator.began_at + LONGEST_ROUND:
            self.kill_operator()

    def kill_operator(self) -> None:
        """The operator's process ends, and another one starts."""
        self.operator.is_killed()
        self.says("the operator is killed and starts again")

    def step_operator(self, trouble: Trouble = Trouble.NONE) -> None:
        """The operator's next read or effect."""
        suffix = "" if trouble is Trouble.NONE else f" [{trouble}]"
        self.says(f"  operator {self.operator.step(trouble)}{suffix}")

    def finish_round(self) -> None:
        """A whole round of the operator, or what is left of it; reads are not worth a line."""
        steps: list[str] = []
        try:
            steps.append(self.operator.step())
            while self.operator.round is not None:
                steps.append(self.operator.step())
        finally:
            told = [step for step in steps if not step.startswith(READS)]
            if told:
                self.says("  operator " + "; ".join(told))

    def step_pod(self, pod: SimPod) -> bool:
        """What one pod does next; whether that was anything."""
        done = self.nodes.step(pod)
        if done is not None:
            self.says(f"{pod.name} {done}")
        return done is not None

    def pass_barriers(self) -> bool:
        """Admitted ranks are through."""
        waiting = [
            leader for leader in self.nodes.leaders() if leader.admission and not leader.hung
        ]
        for leader in waiting:
            self.says(f"the engine: {leader.pass_barrier()}")
        return bool(waiting)

    def goes_on(self) -> bool:
        """Everything that can happen by itself happens once; whether the world has changed."""
        moved = [self.step_pod(pod) for pod in self.nodes.pods()]
        passed = self.pass_barriers()
        if self.operator.round is not None or self.operator.due:
            self.finish_round()
        return any(moved) or passed
