"""Whatever happens in whatever order, no wish is lost and no key is worked on twice at once."""

import math

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from elasticep.run.queue import BackOff, WorkQueue

KEYS = st.sampled_from("abc")
STEPS = st.floats(min_value=0, max_value=20, allow_nan=False)


class AnyOrder(RuleBasedStateMachine):
    """The queue beside the plainest model of it: when each key must have been begun."""

    def __init__(self) -> None:
        super().__init__()
        self.queue: WorkQueue[str] = WorkQueue(back_off=BackOff(longest_seconds=16))
        self.now = 0.0
        self.active: set[str] = set()
        self.wanted: dict[str, float] = {}
        self.failures: dict[str, int] = {}

    def want(self, key: str, when: float) -> None:
        self.wanted[key] = min(when, self.wanted.get(key, math.inf))

    @rule(step=STEPS)
    def time_passes(self, step: float) -> None:
        self.now += step

    @rule(key=KEYS)
    def add(self, key: str) -> None:
        self.queue.add(key, now=self.now)
        self.want(key, self.now)

    @rule(key=KEYS, delay=STEPS)
    def add_later(self, key: str, delay: float) -> None:
        self.queue.add_at(key, when=self.now + delay)
        self.want(key, self.now + delay)

    @rule()
    def take(self) -> None:
        due = {k for k, when in self.wanted.items() if when <= self.now and k not in self.active}
        work = self.queue.take(now=self.now)
        assert (work is not None) == bool(due)
        if work is not None:
            assert work.key in due
            assert work.waited >= 0
            del self.wanted[work.key]
            self.active.add(work.key)

    @precondition(lambda self: self.active)
    @rule(data=st.data(), again_in=st.none() | STEPS)
    def succeed(self, data: st.DataObject, again_in: float | None) -> None:
        key = data.draw(st.sampled_from(sorted(self.active)))
        self.queue.succeeded(key, now=self.now, again_in=again_in)
        self.active.remove(key)
        self.failures.pop(key, None)
        if again_in is not None:
            self.want(key, self.now + again_in)

    @precondition(lambda self: self.active)
    @rule(data=st.data())
    def fail(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.active)))
        wait = self.queue.failed(key, now=self.now)
        self.active.remove(key)
        self.failures[key] = self.failures.get(key, 0) + 1
        assert wait == BackOff(longest_seconds=16).seconds(self.failures[key])
        self.want(key, self.now + wait)

    @invariant()
    def as_many_are_active(self) -> None:
        assert self.queue.active == len(self.active)

    @invariant()
    def an_alarm_rings_in_time(self) -> None:
        """Whoever sleeps until the next alarm misses nothing."""
        later = [when for when in self.wanted.values() if when > self.now]
        alarm = self.queue.next_alarm()
        if later:
            assert alarm is not None
            assert alarm <= min(later)

    def teardown(self) -> None:
        """Everything wanted is worked on in the end."""
        for key in sorted(self.active):
            self.queue.succeeded(key, now=self.now)
        seen = set()
        while work := self.queue.take(now=self.now + 1000):
            seen.add(work.key)
        assert seen == set(self.wanted)


AnyOrder.TestCase.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
TestAnyOrder = AnyOrder.TestCase
