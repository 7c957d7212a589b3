"""What can go wrong, in the user's words."""

from pathlib import Path

_TAIL_LINES = 15


class TestbedError(Exception):
    """A step failed; the message says which, why and, where one knows, what to do."""

    __test__ = False  # pytest would collect a class of this name


def last_lines(path: Path, *, count: int = _TAIL_LINES) -> str:
    """The end of a log with its path, indented, ready to stand below an error message."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return f"  (no log at {path})"
    if not lines:
        return f"  (nothing in {path})"
    shown = "\n".join(f"  | {line}" for line in lines[-count:])
    return f"  the last lines of {path}:\n{shown}"
