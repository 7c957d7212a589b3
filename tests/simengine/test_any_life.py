"""The leader's state machine over whole lives, at random."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from simengine.scale_protocol import Admission, Phase, Shape
from simengine.state_machine import ElasticGroup

TIMEOUT = 600.0


class AnyLife(RuleBasedStateMachine):
    """Joiners come and go, requests and forward passes fall in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.group = ElasticGroup(Shape(launch_size=4, max_size=8, scale_timeout=TIMEOUT))
        self.now = 0.0
        self.largest = self.group.effective

    @rule(size=st.integers(1, 10))
    def ask(self, size: int) -> None:
        had_pending = self.group.pending
        answer = self.group.request_scale(size, now=self.now)
        if answer.accepted:
            assert had_pending is None
            assert self.group.effective < size <= 8

    @rule(ranks=st.sampled_from([1, 2, 4]), right=st.booleans())
    def announce(self, ranks: int, right: bool) -> None:
        offset = self.group.effective
        end = offset + ranks
        self.group.register(offset=offset, target=end if right else end + 1)
        self.group.ranks_ready(range(offset, end))

    @rule(rank=st.integers(0, 7))
    def die(self, rank: int) -> None:
        self.group.ranks_gone([rank])

    @rule(seconds=st.floats(0, 2 * TIMEOUT))
    def wait(self, seconds: float) -> None:
        before = self.group.status()
        self.now += seconds
        assert self.group.status() == before

    @rule()
    def serve(self) -> None:
        step = self.group.forward_pass(now=self.now)
        if isinstance(step, Admission):
            # What is registered there may be another joiner's by now: once the cohort has been
            # taken on, the engine looks at its ranks only.
            assert step.offset in self.group.registrations
            assert step.target == self.group.pending
            self.group.commit(step)

    @precondition(lambda self: self.group.phase is Phase.RECOVERY_UNSUPPORTED)
    @rule(size=st.integers(1, 10))
    def nothing_heals_a_fault_after_growth(self, size: int) -> None:
        self.group.request_scale(size, now=self.now)
        self.group.forward_pass(now=self.now)
        assert self.group.phase is Phase.RECOVERY_UNSUPPORTED

    @invariant()
    def size_only_grows_and_stays_within_bounds(self) -> None:
        assert self.largest <= self.group.effective <= 8
        self.largest = self.group.effective

    @invariant()
    def front_end_knows_the_size_and_what_is_pending(self) -> None:
        assert self.group.mirror.effective == self.group.effective
        assert self.group.mirror.pending == self.group.pending


TestAnyLife = AnyLife.TestCase
TestAnyLife.settings = settings(deadline=None)
