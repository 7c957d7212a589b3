"""A process of the testbed is found by its mark, whoever started it, and nobody else's is."""

import os
import subprocess
from pathlib import Path

import pytest

from testbed import daemons
from testbed.commands import marked
from testbed.errors import TestbedError


def test_a_daemon_and_its_children_are_found_and_ended(tmp_path: Path) -> None:
    daemon = daemons.start("sleeper", ["sh", "-c", "sleep 300 & sleep 300"], state=tmp_path)
    daemon.wait_until(
        lambda: len(daemons.find(state=tmp_path)) == 3, seconds=10, what="sh and two sleeps"
    )
    assert {process.name for process in daemons.find(state=tmp_path)} == {"sleeper"}

    assert daemons.end(lambda process: process.name == "sleeper", state=tmp_path) == 3

    assert daemons.find(state=tmp_path) == []


def test_a_process_of_another_testbed_is_left_alone(tmp_path: Path) -> None:
    mine, others = tmp_path / "mine", tmp_path / "mine-too"
    with subprocess.Popen(["sleep", "300"], env=marked("sleeper", state=others)) as sleeper:
        assert daemons.end(lambda _: True, state=mine) == 0
        assert sleeper.poll() is None
        assert daemons.end(lambda _: True, state=others) == 1


def test_a_daemon_that_ends_early_tells_its_last_words(tmp_path: Path) -> None:
    daemon = daemons.start("brief", ["sh", "-c", "echo too bad; exit 7"], state=tmp_path)
    with pytest.raises(TestbedError, match=r"(?s)brief ended with 7.*too bad"):
        daemon.wait_until(lambda: False, seconds=10, what="answer")


def test_ancestors_begin_with_oneself_and_go_up() -> None:
    assert {os.getpid(), os.getppid()} <= daemons.ancestors()
