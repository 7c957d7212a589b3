"""The work queue's rules, one by one."""

import pytest

from elasticep.run.queue import BackOff, WorkQueue

Queue = WorkQueue[str]


@pytest.fixture
def queue() -> Queue:
    return WorkQueue(back_off=BackOff(first_seconds=1, longest_seconds=8))


def taken(queue: Queue, *, now: float) -> str | None:
    work = queue.take(now=now)
    return work.key if work else None


def test_keys_are_taken_in_the_order_of_their_arrival(queue: Queue) -> None:
    for key in "bac":
        queue.add(key, now=0)
    assert [taken(queue, now=1) for _ in range(4)] == ["b", "a", "c", None]


def test_a_key_that_is_due_is_not_added_twice(queue: Queue) -> None:
    assert queue.add("a", now=0)
    assert not queue.add("a", now=1)
    assert [taken(queue, now=1) for _ in range(2)] == ["a", None]


def test_a_key_is_not_taken_while_it_is_worked_on(queue: Queue) -> None:
    queue.add("a", now=0)
    queue.take(now=0)
    assert queue.add("a", now=1), "what happens during the work may have come too late for it"
    assert not queue.add("a", now=2)
    assert taken(queue, now=3) is None
    queue.succeeded("a", now=4)
    assert [taken(queue, now=4) for _ in range(2)] == ["a", None]


def test_a_key_that_is_added_while_it_fails_is_tried_again_at_once(queue: Queue) -> None:
    queue.add("a", now=0)
    queue.take(now=0)
    queue.add("a", now=1)
    queue.failed("a", now=2)
    assert taken(queue, now=2) == "a"


def test_waiting_is_counted_from_when_a_key_was_due(queue: Queue) -> None:
    queue.add("a", now=1)
    queue.add_at("b", when=3)
    first, second = queue.take(now=5), queue.take(now=5)
    assert first is not None
    assert second is not None
    assert [(w.key, w.waited, w.started) for w in (first, second)] == [("a", 4, 5), ("b", 2, 5)]


def test_a_key_for_later_is_due_then(queue: Queue) -> None:
    queue.add_at("a", when=5)
    assert taken(queue, now=4.9) is None
    assert queue.next_alarm() == 5
    assert taken(queue, now=5) == "a"
    assert queue.next_alarm() is None


@pytest.mark.parametrize("times", [(5, 3), (3, 5)])
def test_the_earliest_time_wins(queue: Queue, times: tuple[float, float]) -> None:
    for when in times:
        queue.add_at("a", when=when)
    assert queue.next_alarm() == 3
    assert [taken(queue, now=3), taken(queue, now=9)] == ["a", None]


def test_work_replaces_what_was_set_for_later(queue: Queue) -> None:
    queue.add_at("a", when=10)
    queue.add("a", now=0)
    queue.take(now=0)
    queue.succeeded("a", now=1, again_in=60)
    assert queue.next_alarm() == 61
    assert taken(queue, now=10) is None


def test_a_time_that_is_set_during_the_work_holds(queue: Queue) -> None:
    queue.add("a", now=0)
    queue.take(now=0)
    queue.add_at("a", when=2)
    queue.succeeded("a", now=1, again_in=60)
    assert taken(queue, now=2) == "a"


def test_an_alarm_during_the_work_waits_for_its_end(queue: Queue) -> None:
    queue.add("a", now=0)
    queue.take(now=0)
    queue.add_at("a", when=2)
    assert taken(queue, now=3) is None
    queue.succeeded("a", now=4)
    assert taken(queue, now=4) == "a"


def test_failures_in_a_row_wait_longer_and_longer(queue: Queue) -> None:
    queue.add("a", now=0)
    now, waits = 0.0, []
    for _ in range(6):
        assert taken(queue, now=now) == "a"
        waits.append(queue.failed("a", now=now))
        assert taken(queue, now=now + waits[-1] - 0.1) is None
        now += waits[-1]
    assert waits == [1, 2, 4, 8, 8, 8]


def test_a_success_forgets_failures(queue: Queue) -> None:
    queue.add("a", now=0)
    for _ in range(3):
        queue.take(now=100)
        queue.failed("a", now=100)
        queue.add("a", now=100)
    queue.take(now=100)
    queue.succeeded("a", now=100)
    queue.add("a", now=200)
    queue.take(now=200)
    assert queue.failed("a", now=200) == 1


def test_one_keys_failures_are_not_anothers(queue: Queue) -> None:
    for key in "ab":
        queue.add(key, now=0)
        queue.take(now=0)
    queue.failed("a", now=0)
    assert queue.failed("b", now=0) == 1


def test_an_event_does_not_wait_for_the_back_off(queue: Queue) -> None:
    queue.add("a", now=0)
    queue.take(now=0)
    queue.failed("a", now=0)
    queue.add("a", now=0.5)
    assert taken(queue, now=0.5) == "a"
    assert queue.next_alarm() is None


def test_keys_that_failed_together_come_back_apart() -> None:
    factors = iter([0.9, 1.1])
    queue: Queue = WorkQueue(back_off=BackOff(first_seconds=10, spread=lambda: next(factors)))
    for key in "ab":
        queue.add(key, now=0)
        queue.take(now=0)
    assert [queue.failed("a", now=0), queue.failed("b", now=0)] == [9, 11]


def test_a_thousand_failures_are_no_overflow(queue: Queue) -> None:
    assert BackOff().seconds(10_000) == BackOff().longest_seconds


def test_work_in_progress_is_told(queue: Queue) -> None:
    assert (queue.depth, queue.active, queue.longest_running_seconds(now=9)) == (0, 0, 0)
    for key, start in (("a", 1.0), ("b", 3.0)):
        queue.add(key, now=start)
        queue.take(now=start)
    queue.add("a", now=4)
    queue.add("c", now=4)
    assert (queue.depth, queue.active) == (2, 2)
    assert queue.longest_running_seconds(now=5) == 4
    assert queue.unfinished_seconds(now=5) == 6
