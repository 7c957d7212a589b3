"""The rules of ordinary life: time passes, users edit, the operator works, dies and starts again.

Nothing fails here by itself, so no failure may be put on record either.
"""

from datetime import timedelta

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from tests.sim.control import Trouble
from tests.sim.engines import SHRINKING
from tests.sim.kubelet import PLENTY
from tests.sim.pods import SimPod
from tests.sim.settling import settle
from tests.sim.specs import GOOD_TEMPLATES, Ways, group_spec
from tests.sim.story import Story

from simengine.faults import NativeShrink

WHICH = st.integers(0, 5)
"""Which pod is meant: counted from the oldest, beginning again when there are fewer."""

ENGINES = st.sampled_from([None, None, *SHRINKING])
"""How an engine gives ranks back: not at all, as it should, or in one of many bad ways."""

GPUS = st.sampled_from([PLENTY, PLENTY, 14, 12, 10, 8, 6])

WAYS = st.builds(
    Ways,
    shrink=st.sampled_from(["Surge", "Surge", "Restart", "Native", "Native", "Disabled"]),
    fallback=st.sampled_from(["Surge", "Restart", "Disabled"]),
    recovery=st.sampled_from(["Restart", "Surge"]),
    rollout=st.sampled_from(["Surge", "Surge", "Restart"]),
    drain=st.sampled_from([0, 30, 120]),
    stabilization=st.sampled_from([0, 0, 30, 300]),
)

TROUBLES = st.sampled_from([Trouble.NONE, Trouble.NONE, *Trouble])

has_pods = precondition(lambda self: bool(self.story.api.pods))
has_leaders = precondition(lambda self: any(x.listening for x in self.story.nodes.leaders()))


class OrdinaryStory(RuleBasedStateMachine):
    """One group, its users, and an operator that may die or lose a request at any moment."""

    story: Story

    @initialize(
        template=st.sampled_from(["plain", "plain", "thin joiners"]),
        replicas=st.integers(1, 4),
        rounds=st.sampled_from([0, 5, 12, 20, 30]),
        ways=WAYS,
        engine=ENGINES,
        gpus=GPUS,
    )
    def a_group_is_applied_and_all_goes_well(
        self,
        *,
        template: str,
        replicas: int,
        rounds: int,
        ways: Ways,
        engine: NativeShrink | None,
        gpus: int,
    ) -> None:
        self.story = Story(tell=note, template=template, replicas=replicas, ways=ways)
        self.story.nodes.shrinks = engine
        self.story.nodes.gpus = gpus
        self.all_goes_well(rounds)

    # Time, and what happens by itself.

    @rule()
    def all_goes_well_for_a_moment(self) -> None:
        self.all_goes_well(1)

    @rule(rounds=st.integers(10, 25))
    def all_goes_well_for_long(self, rounds: int) -> None:
        self.all_goes_well(rounds)

    @rule(rounds=st.integers(1, 9))
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

    @rule(count=st.integers(1, 3), seconds=st.sampled_from([5, 20, 60, 200]))
    def clients_ask(self, count: int, seconds: int) -> None:
        """Requests that take a while, wherever the Service sends them."""
        answered_at = self.story.now + timedelta(seconds=seconds)
        for engine in self.story.nodes.endpoints():
            ranks = engine.group.open_ranks
            engine.requests.take(count, ranks=ranks, answered_at=answered_at)

    @rule(unknown=st.booleans())
    def no_engine_tells_how_much_it_has_to_do(self, unknown: bool) -> None:
        self.story.nodes.loads_unknown = unknown

    @rule(gpus=GPUS)
    def the_nodes_have(self, gpus: int) -> None:
        self.story.nodes.gpus = gpus

    @rule()
    def the_barrier_is_passed(self) -> None:
        self.story.pass_barriers()

    # The operator, and the requests that it makes.

    @rule(trouble=TROUBLES)
    def the_operator_takes_a_step(self, trouble: Trouble) -> None:
        self.story.step_operator(trouble)

    @rule(troubles=st.lists(TROUBLES, min_size=2, max_size=9))
    def the_operator_has_trouble_with_its_requests(self, troubles: list[Trouble]) -> None:
        for trouble in troubles:
            self.story.step_operator(trouble)

    @rule(lost=st.booleans())
    def completions_are_lost(self, lost: bool) -> None:
        self.story.nodes.completions_lost = lost

    @rule(steps=st.integers(1, 7))
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
        self._edit(replicas=replicas)

    @rule(template=st.sampled_from(GOOD_TEMPLATES))
    def the_user_changes_the_template(self, template: str) -> None:
        self.story.template = template
        self._edit()

    @rule(ways=WAYS)
    def the_user_changes_the_ways(self, ways: Ways) -> None:
        self.story.ways = ways
        self._edit()

    @rule(paused=st.booleans())
    def the_user_pauses(self, paused: bool) -> None:
        self._edit(paused=paused)

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

    @invariant()
    def one_leader_has_the_traffic(self) -> None:
        self.story.laws.watched(self.story.laws.moving.judge_service)

    def teardown(self) -> None:
        """Once the faults stop, every story ends well."""
        if hasattr(self, "story") and not self.story.laws.broken:
            settle(self.story)

    def _pod(self, which: int) -> SimPod:
        pods = self.story.nodes.pods()
        return pods[which % len(pods)]

    def _edit(self, *, replicas: int | None = None, paused: bool | None = None) -> None:
        story, spec = self.story, self.story.api.spec
        story.api.edit(
            group_spec(
                story.template,
                spec.replicas if replicas is None else replicas,
                ways=story.ways,
                paused=spec.paused if paused is None else paused,
            )
        )
