"""Runs a program to its end; a failure carries the end of what it printed."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from testbed.errors import TestbedError, last_lines

# Children of ours carry this in their environment, which they hand down and cannot lose:
# what it names can be found and ended after the driver itself was killed.
MARK = "ELASTICEP_TESTBED"

# Where the programs of the packages are, which a user's path may lack.
_SYSTEM_PATH = "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"

# Private mounts and processes: whatever the program mounts or starts is gone when it is.
CONTAINED = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")


def run(
    argv: Sequence[str | Path],
    *,
    log: Path | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: Path | None = None,
    timeout: float | None = None,
) -> str:
    """What the program printed on stdout.

    With a log, both streams go to its end instead, and the answer is empty.
    Raises TestbedError when the program is missing, fails or takes more than `timeout` seconds.
    """
    words = [str(word) for word in argv]
    try:
        if log is None:
            with (stdin or Path(os.devnull)).open("rb") as source:
                return _captured(words, env=env, cwd=cwd, stdin=source, timeout=timeout)
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8") as sink:
            code = subprocess.run(
                words,
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env=env,
                cwd=cwd,
                timeout=timeout,
            ).returncode
    except FileNotFoundError as missing:
        raise TestbedError(
            f"{words[0]} is not installed ({missing}); run: testbed packages"
        ) from None
    except subprocess.TimeoutExpired:
        raise TestbedError(f"{' '.join(words)} took more than {timeout:.0f} s") from None
    if code != 0:
        raise TestbedError(f"{' '.join(words)} ended with {code}\n{last_lines(log)}")
    return ""


def _captured(
    words: list[str],
    *,
    env: Mapping[str, str] | None,
    cwd: Path | None,
    stdin: BinaryIO,
    timeout: float | None,
) -> str:
    done = subprocess.run(
        words,
        check=False,
        capture_output=True,
        text=True,
        env=env,
        cwd=cwd,
        stdin=stdin,
        timeout=timeout,
    )
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise TestbedError(f"{' '.join(words)} ended with {done.returncode}: {said}")
    return done.stdout


def marked(name: str, *, state: Path) -> dict[str, str]:
    """This environment, with the mark of the testbed in `state` and the name of a part of it."""
    path = f"{os.environ.get('PATH', '')}:{_SYSTEM_PATH}"
    return {**os.environ, "PATH": path, MARK: f"{state}:{name}"}
