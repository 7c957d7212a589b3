"""Stories at random: whatever goes wrong, in whatever order, the laws hold and the group settles.

A failure prints the shortest story that hypothesis finds, line by line.
"""

from datetime import timedelta

from hypothesis import HealthCheck, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.sim.control import Trouble
from tests.sim.laws import live
from tests.sim.pods import SimPod
from tests.sim.settling import settle
from tests.sim.specs import TEMPLATES, group_spec
from tests.sim.story import Story
from tests.sim.wellformed import insist

from elasticep.api import names
from elasticep.api.models import GroupStatus

STEPS = 60

WHICH = st.integers(0, 5)
"""Which pod is meant: counted from the oldest, beginning again when there are fewer."""

LAST_WORDS = st.sampled_from(
    [
        (1, "CUDA out of memory"),
        (1, "RuntimeError: something nobody has seen before"),
        (137, ""),
        (0, "Exit code 0 after SIGKILL of a scheduler"),
    ]
)
TROUBLES = st.sampled_from([Trouble.NONE, Trouble.NONE, *Trouble])

has_pods = precondition(lambda self: bool(self.story.api.pods))
has_engines = precondition(lambda self: any(p.process for p in self.story.nodes.pods()))
has_leaders = precondition(lambda self: any(x.listening for x in self.story.nodes.leaders()))


class AnyStory(RuleBasedStateMachine):
    """One group, one operator, and everything around them."""

    story: Story

    @initialize(
        template=st.sampled_from(["plain", "plain", "thin joiners"]),
        replicas=st.integers(1, 4),
        rounds=st.sampled_from([0, 5, 12, 20, 30]),
    )
    def a_group_is_applied_and_all_goes_well(
        self, template: str, replicas: int, rounds: int
    ) -> None:
        self.story = Story(tell=note, template=template, replicas=replicas)
        self.all_goes_well(rounds)

    # Time, and what happens by itself.

    @rule(rounds=st.integers(1, 12))
    def all_goes_well_for_a_while(self, rounds: int) -> None:
        self.all_goes_well(rounds)

    def all_goes_well(self, rounds: int) -> None:
        for _ in range(rounds):
            self.story.goes_on()
            self.story.time_passes(timedelta(seconds=4))

    @rule(seconds=st.integers(1, 12))
    def seconds_pass(self, seconds: int) -> None:
        self.story.time_passes(timedelta(seconds=seconds))

    @rule(minutes=st.sampled_from([1, 3, 6, 12, 45]))
    def minutes_pass(self, minutes: int) -> None:
        self.story.time_passes(timedelta(minutes=minutes))

    @has_pods
    @rule(which=WHICH)
    def a_pod_moves_on(self, which: int) -> None:
        self.story.step_pod(self._pod(which))

    @has_leaders
    @rule()
    def a_client_is_served(self) -> None:
        for leader in self.story.nodes.leaders():
            if leader.listening:
                leader.complete(self.story.now)

    @rule()
    def the_barrier_is_passed(self) -> None:
        self.story.pass_barriers()

    # The operator, and the requests that it makes.

    @rule(trouble=TROUBLES)
    def the_operator_takes_a_step(self, trouble: Trouble) -> None:
        self.story.step_operator(trouble)

    @rule(steps=st.integers(1, 6))
    def the_operator_is_killed_after(self, steps: int) -> None:
        for _ in range(steps):
            self.story.step_operator()
        self.story.kill_operator()

    @rule()
    def the_operator_finishes_a_round(self) -> None:
        self.story.finish_round()

    # Users.

    @rule(replicas=st.integers(0, 5))
    def the_user_wants(self, replicas: int) -> None:
        self._edit(self.story.template, replicas, paused=self.story.api.spec.paused)

    @rule(template=st.sampled_from(list(TEMPLATES)))
    def the_user_changes_the_template(self, template: str) -> None:
        self.story.template = template
        spec = self.story.api.spec
        self._edit(template, spec.replicas, paused=spec.paused)

    @rule(paused=st.booleans())
    def the_user_pauses(self, paused: bool) -> None:
        self._edit(self.story.template, self.story.api.spec.replicas, paused=paused)

    @rule()
    def the_user_resumes(self) -> None:
        api = self.story.api
        api.resume = str(api.revision)
        api.touch_group()

    @rule(unreadable=st.booleans())
    def the_spec_cannot_be_read(self, unreadable: bool) -> None:
        api = self.story.api
        api.unreadable = unreadable
        api.generation += 1
        api.touch_group()

    @rule()
    def somebody_touches_the_object(self) -> None:
        self.story.api.touch_group()

    @has_pods
    @rule(which=WHICH)
    def somebody_deletes_a_pod(self, which: int) -> None:
        pod = self._pod(which)
        self.story.says(f"somebody deletes pod {pod.name}")
        self.story.laws.faults += 1
        self.story.laws.forgiven()
        self.story.api.delete_pod(pod)

    @has_leaders
    @rule(size=st.integers(3, 9))
    def somebody_else_asks_the_engine_for(self, size: int) -> None:
        for leader in self.story.nodes.leaders():
            if leader.listening and leader.request_scale(size, self.story.now).accepted:
                leader.asked_by_others = True
                self.story.laws.faults += 2

    # What goes wrong.

    @has_engines
    @rule(which=WHICH, last=LAST_WORDS)
    def a_container_ends(self, which: int, last: tuple[int, str]) -> None:
        running = [pod for pod in self.story.nodes.pods() if pod.process]
        pod = running[which % len(running)]
        self.story.says(f"{pod.name} exits with code {last[0]}: {last[1]}")
        self.story.nodes.crash(pod, *last)

    @has_pods
    @rule(which=WHICH, reason=st.sampled_from(["Evicted", "UnexpectedAdmissionError"]))
    def a_pod_fails(self, which: int, reason: str) -> None:
        pod = self._pod(which)
        self.story.says(f"{pod.name} fails: {reason}")
        self.story.laws.faults += 1
        pod.fails(reason, "the node was low on resource: ephemeral-storage")
        self.story.api.touch()

    @has_engines
    @rule(which=WHICH)
    def a_node_is_lost(self, which: int) -> None:
        running = [pod for pod in self.story.nodes.pods() if pod.process]
        pod = running[which % len(running)]
        self.story.says(f"the node of {pod.name} is cut off")
        self.story.laws.faults += 1
        pod.end_process()
        pod.lost_at = self.story.now
        self.story.api.touch()

    @has_leaders
    @rule()
    def the_leader_hangs(self) -> None:
        for leader in self.story.nodes.leaders():
            leader.hung = leader.listening
            self.story.laws.faults += 1

    @has_leaders
    @rule(rank=st.integers(4, 7))
    def a_rank_falls_silent(self, rank: int) -> None:
        for leader in self.story.nodes.leaders():
            leader.group.ranks_gone([rank])
            self.story.laws.faults += 1

    @has_pods
    @rule(which=WHICH)
    def a_node_comes_back(self, which: int) -> None:
        pod = self._pod(which)
        if pod.lost:
            self.story.says(f"the node of {pod.name} is back")
            pod.lost_at = None
            if not pod.terminating:
                self.story.nodes.crash(pod, 255, "Unknown")

    @rule()
    def somebody_deletes_the_admin_key(self) -> None:
        self.story.api.admin_key = None

    @has_pods
    @rule(which=WHICH)
    def somebody_takes_traffic_away(self, which: int) -> None:
        self._pod(which).serving = False
        self.story.api.touch()

    @rule()
    def somebody_wipes_the_status(self) -> None:
        self.story.api.status = GroupStatus()
        self.story.api.touch_group()
        self.story.laws.forgotten()

    @rule(full=st.booleans())
    def nodes_are_full(self, full: bool) -> None:
        self.story.nodes.full = full

    @rule(missing=st.booleans())
    def the_image_cannot_be_pulled(self, missing: bool) -> None:
        self.story.nodes.image_missing = missing

    @rule(unreachable=st.booleans())
    def the_leader_cannot_be_reached(self, unreachable: bool) -> None:
        self.story.nodes.leader_unreachable = unreachable

    @rule(spent=st.booleans())
    def the_quota_is_spent(self, spent: bool) -> None:
        self.story.api.quota_spent = spent

    @rule()
    def somebody_deletes_the_service(self) -> None:
        self.story.api.service = None

    @invariant()
    def at_most_one_leader_pod_is_alive(self) -> None:
        leaders = [pod.name for pod in live(self.story.api) if pod.role == names.LEADER]
        self.story.laws.watched(lambda: insist(len(leaders) <= 1, f"one leader: {leaders}"))

    def teardown(self) -> None:
        """Once the faults stop, every story ends well."""
        if hasattr(self, "story") and not self.story.laws.broken:
            settle(self.story)

    def _pod(self, which: int) -> SimPod:
        pods = self.story.nodes.pods()
        return pods[which % len(pods)]

    def _edit(self, template: str, replicas: int, *, paused: bool) -> None:
        self.story.api.edit(group_spec(template, replicas, paused=paused))


def test_whatever_goes_wrong_the_laws_hold_and_the_group_settles(model_runs: int) -> None:
    run_state_machine_as_test(
        AnyStory,
        settings=settings(
            max_examples=model_runs,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
