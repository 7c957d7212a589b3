"""Says what is being done and how long it took, on a terminal and in a CI log."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

_PLAIN_EVERY_SECONDS = 10.0


class Step(Protocol):
    """One thing being done."""

    def at(self, text: str) -> None:
        """How far it is, for example '120 of 2840 packages'."""


class Report(Protocol):
    """Where steps are told; steps may run at the same time."""

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """Tell that a step begins, and how it ended."""

    def say(self, text: str) -> None:
        """Tell one thing that is not a step."""


class PlainReport:
    """A line when a step begins and ends, and now and then while it lasts."""

    def __init__(self, *, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._lock = threading.Lock()

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """Tell that a step begins, and how it ended."""
        begun = self._clock()
        self.say(f"{title} ...")
        try:
            yield _PlainStep(title=title, say=self.say, clock=self._clock)
        except BaseException:
            self.say(f"{title}: failed after {self._clock() - begun:.1f} s")
            raise
        self.say(f"{title}: done in {self._clock() - begun:.1f} s")

    def say(self, text: str) -> None:
        """Print one line, whole and at once, so that threads do not mix theirs."""
        with self._lock:
            self._stream.write(text + "\n")
            self._stream.flush()


class _PlainStep:
    def __init__(
        self, *, title: str, say: Callable[[str], None], clock: Callable[[], float]
    ) -> None:
        self._title = title
        self._say = say
        self._clock = clock
        self._last = clock()

    def at(self, text: str) -> None:
        if self._clock() - self._last >= _PLAIN_EVERY_SECONDS:
            self._last = self._clock()
            self._say(f"{self._title}: {text}")


class TerminalReport:
    """A spinner for each step under way, and one line for each that has ended."""

    def __init__(self, *, progress: Progress) -> None:
        self._progress = progress

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """Show a spinner until the step ends."""
        begun = time.monotonic()
        task = self._progress.add_task(title, total=None, at="")
        mark = "[red]✗[/]"
        try:
            yield _TerminalStep(progress=self._progress, task=task)
            mark = "[green]✓[/]"
        finally:
            self._progress.remove_task(task)
            self._progress.console.print(
                f"{mark} {title} [dim]{time.monotonic() - begun:.1f} s[/]", highlight=False
            )

    def say(self, text: str) -> None:
        """Print one line above the spinners."""
        self._progress.console.print(text, highlight=False, markup=False)


class _TerminalStep:
    def __init__(self, *, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def at(self, text: str) -> None:
        self._progress.update(self._task, at=text)


@contextmanager
def open_report(stream: TextIO | None = None) -> Iterator[Report]:
    """The report that suits the stream: live on a terminal, plain lines elsewhere."""
    stream = stream or sys.stderr
    if not stream.isatty():
        yield PlainReport(stream=stream)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("[dim]{task.fields[at]}[/]"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(file=stream), transient=True) as progress:
        yield TerminalReport(progress=progress)
