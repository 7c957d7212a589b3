"""What a log shows while a long step lasts."""

import io

import pytest

from testbed.progress import PlainReport


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_long_step_tells_now_and_then_how_far_it_is() -> None:
    stream, clock = io.StringIO(), Clock()
    with PlainReport(stream=stream, clock=clock).step("building") as step:
        for done in range(1, 26):
            clock.now = float(done)
            step.at(f"{done} of 25")
    assert stream.getvalue().splitlines() == [
        "building ...",
        "building: 10 of 25",
        "building: 20 of 25",
        "building: done in 25.0 s",
    ]


def test_a_failed_step_says_so() -> None:
    stream, clock = io.StringIO(), Clock()

    def fail() -> None:
        with PlainReport(stream=stream, clock=clock).step("building"):
            clock.now = 3.0
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert stream.getvalue().splitlines()[-1] == "building: failed after 3.0 s"
