"""Runs parts of the Makefile one after the other, all of them even if one fails, and sums up.

Standard library only, since it may run before anything is installed.
"""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

_PYTEST_CLOSING = re.compile(r"^(?:\x1b\[[\d;]*m)*=+ (?:\x1b\[[\d;]*m)*(.*\d .* in [\d.]+s.*?)=+")
_COLOUR = re.compile(r"\x1b\[[\d;]*m")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How one part went."""

    part: str
    passed: bool
    seconds: float
    closing: str
    """What pytest said at the end, if it ran."""


def main(parts: Sequence[str]) -> int:
    """Run the parts; the answer is 0 when all of them passed.

    An interrupt reaches the part too, which then tears down what it has set up: that is waited
    for, and no further part begins.
    """
    interrupts: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    outcomes = [_run(part) for part in parts if not interrupts]
    print(f"\n{summary(outcomes)}", flush=True)
    return 0 if len(outcomes) == len(parts) and all(o.passed for o in outcomes) else 1


def summary(outcomes: Sequence[Outcome]) -> str:
    """A table of the parts, and a line for the whole."""
    lines = [
        f"  {'passed' if outcome.passed else 'FAILED'}  {outcome.part:<10} "
        f"{_duration(outcome.seconds):>8}  {outcome.closing}".rstrip()
        for outcome in outcomes
    ]
    failed = [outcome.part for outcome in outcomes if not outcome.passed]
    total = _duration(sum(outcome.seconds for outcome in outcomes))
    verdict = f"failed: {', '.join(failed)}; run one with: make {failed[0]}" if failed else "passed"
    return "\n".join([*lines, f"{len(outcomes)} parts in {total}: {verdict}"])


def pytest_closing(line: str) -> str:
    """What pytest's last line says, or nothing when the line is another one."""
    found = _PYTEST_CLOSING.match(line)
    return _COLOUR.sub("", found[1]).strip() if found else ""


def _run(part: str) -> Outcome:
    print(f"\n--- make {part}", flush=True)
    begun = time.monotonic()
    closing = ""
    with subprocess.Popen(
        ["make", part], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            closing = pytest_closing(line) or closing
    return Outcome(
        part=part,
        passed=process.returncode == 0,
        seconds=time.monotonic() - begun,
        closing=closing,
    )


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{seconds:.1f} s"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
