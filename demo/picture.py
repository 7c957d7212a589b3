"""Shows scenes: one picture that moves on a terminal, a line for each change elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from demo.scene import Scene

Show = Callable[[Scene, float], None]
"""Shows a scene and the seconds since the beginning."""

_EVENTS_SHOWN = 8
_STATE_STYLES = {"Ready": "green", "Running": "cyan", "Terminating": "dim"}


@contextmanager
def open_picture(console: Console, *, title: str) -> Iterator[Show]:
    """The way to show scenes that suits the console."""
    if not console.is_terminal:
        lines = _Lines(console)
        yield lines.show
        return
    with Live(console=console, refresh_per_second=8) as live:
        yield lambda scene, seconds: live.update(picture(scene, title=title, seconds=seconds))


def picture(scene: Scene, *, title: str, seconds: float) -> RenderableType:
    """The whole scene as a block of text."""
    head = Text.assemble(
        (title, "bold"), "   EP size ", (f"{scene.effective}", "bold green"), f" of {scene.desired}"
    )
    head.append("   ")
    head.append_text(_ranks(scene))
    head.append(f"   {seconds:5.1f} s", style="dim")
    condition = Text.assemble(
        "Ready ", ("True", "green") if scene.ready else ("False", "yellow"), f"  {scene.reason}"
    )
    condition.append(f": {scene.message}" if scene.message else "", style="dim")
    return Group(head, condition, Text(), _pods(scene), Text(), *_events(scene))


def _ranks(scene: Scene) -> Text:
    """A square for each wanted rank: serving, joining, or still to come."""
    bar = Text()
    for rank in range(max(scene.desired, scene.effective)):
        if rank < scene.effective:
            bar.append("■ ", style="green")
        elif scene.pending is not None and rank < scene.pending:
            bar.append("■ ", style="yellow")
        else:
            bar.append("□ ", style="dim")
    return bar


def _pods(scene: Scene) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("ranks", "pod", "node", "address", "state"):
        table.add_column(heading, no_wrap=True)
    for pod in scene.pods:
        last = pod.offset + pod.ranks - 1
        style = _STATE_STYLES.get(pod.state, "yellow")
        state = Text(pod.state, style=style)
        table.add_row(f"{pod.offset}-{last}", pod.name, pod.node or "-", pod.address or "-", state)
    return table


def _events(scene: Scene) -> list[Text]:
    shown = scene.events[-_EVENTS_SHOWN:]
    lines = [
        Text.assemble(
            (f"{event.reason:<20} ", "yellow" if event.alarming else "cyan"), (event.note, "dim")
        )
        for event in shown
    ]
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    return lines


class _Lines:
    """What has changed since the last scene, line by line."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = Scene()

    def show(self, scene: Scene, seconds: float) -> None:
        for text in changes(self._last, scene):
            self._console.print(
                f"{seconds:6.1f} s  {text}", highlight=False, markup=False, soft_wrap=True
            )
        self._last = scene


def changes(before: Scene, after: Scene) -> Iterator[str]:
    """A sentence for each thing that a reader would want to know of."""
    known = {pod.name: pod for pod in before.pods}
    for pod in after.pods:
        earlier = known.get(pod.name)
        if earlier is None or earlier.state != pod.state:
            yield f"pod    {pod.name} {pod.state}" + (f" on {pod.node}" if pod.node else "")
    if (before.effective, before.desired) != (after.effective, after.desired):
        yield f"size   EP {after.effective} of {after.desired}"
    told = {event.name for event in before.events}
    for event in after.events:
        if event.name not in told:
            yield f"event  {event.reason}: {event.note}"
