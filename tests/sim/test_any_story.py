"""Stories at random: whatever goes wrong, in whatever order, the laws hold and the group settles.

A failure prints the shortest story that hypothesis finds, line by line.
"""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule, run_state_machine_as_test
from tests.sim.engines import LeaderProcess
from tests.sim.ordinary import WHICH, OrdinaryStory, has_leaders, has_pods
from tests.sim.specs import BAD_TEMPLATES

from elasticep.api.models import GroupStatus

STEPS = 50

LAST_WORDS = st.sampled_from(
    [
        (1, "CUDA out of memory"),
        (1, "RuntimeError: something nobody has seen before"),
        (137, ""),
        (0, "Exit code 0 after SIGKILL of a scheduler"),
    ]
)

trouble_is_left = precondition(lambda self: self.troubles > 0)
has_engines = precondition(lambda self: any(p.process for p in self.story.nodes.pods()))


class AnyStory(OrdinaryStory):
    """Ordinary life, and a few things that go wrong in it."""

    troubles = 0

    @initialize(troubles=st.sampled_from([1, 2, 3, 5, 8, 13]))
    def so_much_goes_wrong(self, troubles: int) -> None:
        self.troubles = troubles

    @trouble_is_left
    @rule(template=st.sampled_from(BAD_TEMPLATES))
    def the_user_makes_a_mistake(self, template: str) -> None:
        self.troubles -= 1
        self.the_user_changes_the_template(template)

    @trouble_is_left
    @has_pods
    @rule(which=WHICH)
    def somebody_deletes_a_pod(self, which: int) -> None:
        self.troubles -= 1
        pod = self._pod(which)
        self.story.says(f"somebody deletes pod {pod.name}")
        self.story.laws.faults += 1
        self.story.laws.forgiven()
        self.story.api.delete_pod(pod)

    @trouble_is_left
    @has_leaders
    @rule(size=st.integers(3, 9))
    def somebody_else_asks_the_engine_for(self, size: int) -> None:
        self.troubles -= 1
        for leader in self.story.nodes.leaders():
            if leader.listening and self._is_taken(leader, size):
                leader.asked_by_others = True
                self.story.laws.faults += 2

    def _is_taken(self, leader: LeaderProcess, size: int) -> bool:
        """Nobody else makes a group smaller: what a joiner has joined with goes as a whole."""
        if leader.group.native_shrink is not None:
            size = max(size, leader.group.effective)
        return leader.request_scale(size, self.story.now).accepted

    # What goes wrong.

    @trouble_is_left
    @has_engines
    @rule(which=WHICH, last=LAST_WORDS)
    def a_container_ends(self, which: int, last: tuple[int, str]) -> None:
        self.troubles -= 1
        running = [pod for pod in self.story.nodes.pods() if pod.process]
        pod = running[which % len(running)]
        self.story.says(f"{pod.name} exits with code {last[0]}: {last[1]}")
        self.story.nodes.crash(pod, *last)

    @trouble_is_left
    @has_pods
    @rule(which=WHICH, reason=st.sampled_from(["Evicted", "UnexpectedAdmissionError"]))
    def a_pod_fails(self, which: int, reason: str) -> None:
        self.troubles -= 1
        pod = self._pod(which)
        self.story.says(f"{pod.name} fails: {reason}")
        self.story.laws.faults += 1
        pod.fails(reason, "the node was low on resource: ephemeral-storage")
        self.story.api.touch()

    @trouble_is_left
    @has_engines
    @rule(which=WHICH)
    def a_node_is_lost(self, which: int) -> None:
        self.troubles -= 1
        running = [pod for pod in self.story.nodes.pods() if pod.process]
        pod = running[which % len(running)]
        self.story.says(f"the node of {pod.name} is cut off")
        self.story.laws.faults += 1
        pod.end_process()
        pod.lost_at = self.story.now
        self.story.api.touch()

    @trouble_is_left
    @has_leaders
    @rule()
    def the_leader_hangs(self) -> None:
        self.troubles -= 1
        for leader in self.story.nodes.leaders():
            leader.hung = leader.listening
            self.story.laws.faults += 1

    @trouble_is_left
    @has_leaders
    @rule(rank=st.integers(4, 7))
    def a_rank_falls_silent(self, rank: int) -> None:
        self.troubles -= 1
        for leader in self.story.nodes.leaders():
            leader.group.ranks_gone([rank])
            self.story.laws.faults += 1

    @trouble_is_left
    @has_pods
    @rule(which=WHICH)
    def a_node_comes_back(self, which: int) -> None:
        self.troubles -= 1
        pod = self._pod(which)
        if pod.lost:
            self.story.says(f"the node of {pod.name} is back")
            pod.lost_at = None
            if not pod.terminating:
                self.story.nodes.crash(pod, 255, "Unknown")

    @trouble_is_left
    @rule()
    def somebody_deletes_the_admin_key(self) -> None:
        self.troubles -= 1
        self.story.api.admin_key = None
        for leader in self.story.nodes.leaders():
            leader.limps = False

    @trouble_is_left
    @has_pods
    @rule(which=WHICH)
    def somebody_takes_traffic_away(self, which: int) -> None:
        self.troubles -= 1
        self.story.api.label(self._pod(which), serving=False)

    @trouble_is_left
    @rule()
    def somebody_wipes_the_status(self) -> None:
        self.troubles -= 1
        self.story.api.status = GroupStatus()
        self.story.api.touch_group()
        self.story.laws.forgotten()

    @trouble_is_left
    @rule(limp=st.booleans())
    def engines_serve_on_with_the_ranks_that_they_have(self, limp: bool) -> None:
        self.troubles -= 1
        self.story.nodes.limp = limp
        for leader in self.story.nodes.leaders():
            leader.limps = limp and leader.admin_key == self.story.api.admin_key

    @trouble_is_left
    @rule(missing=st.booleans())
    def the_image_cannot_be_pulled(self, missing: bool) -> None:
        self.troubles -= 1
        self.story.nodes.image_missing = missing

    @trouble_is_left
    @rule(unreachable=st.booleans())
    def the_leader_cannot_be_reached(self, unreachable: bool) -> None:
        self.troubles -= 1
        self.story.nodes.leader_unreachable = unreachable

    @trouble_is_left
    @rule(spent=st.booleans())
    def the_quota_is_spent(self, spent: bool) -> None:
        self.troubles -= 1
        self.story.api.quota_spent = spent

    @trouble_is_left
    @rule()
    def somebody_deletes_what_stands_around_the_pods(self) -> None:
        self.troubles -= 1
        self.story.api.surroundings.clear()


@pytest.mark.parametrize("life", [OrdinaryStory, AnyStory])
def test_whatever_happens_the_laws_hold_and_the_group_settles(
    life: type[OrdinaryStory], model_runs: int
) -> None:
    run_state_machine_as_test(
        life,
        settings=settings(
            max_examples=model_runs // 2,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
