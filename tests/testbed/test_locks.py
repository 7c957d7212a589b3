"""Two commands never change a testbed at the same time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.errors import TestbedError
from testbed.locks import in_turn, only_one


def test_the_second_is_told_who_the_first_is(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with only_one(lock, doing="up"):
        with pytest.raises(TestbedError) as refused, only_one(lock, doing="down"):
            pass
        assert f"process {os.getpid()} (testbed up)" in str(refused.value)


def test_a_lock_ends_with_its_holder(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    program = (
        "import os, pathlib, signal\n"
        "from testbed.locks import only_one\n"
        f"with only_one(pathlib.Path({str(lock)!r}), doing='up'):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    with only_one(lock, doing="down"):
        assert "testbed down" in lock.read_text()


def test_who_waits_in_turn_finds_what_the_first_has_made(tmp_path: Path) -> None:
    lock, made = tmp_path / "lock", tmp_path / "made"
    program = (
        "import pathlib\n"
        "from testbed.locks import in_turn\n"
        f"with in_turn(pathlib.Path({str(lock)!r})):\n"
        f"    print(pathlib.Path({str(made)!r}).exists())\n"
    )
    with in_turn(lock):
        waiting = subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
        )
        made.touch()
    said, _ = waiting.communicate(timeout=30)
    assert said.strip() == "True"
