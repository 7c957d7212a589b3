"""One JSON object a line on standard output.

Every line that is written during a reconcile says which one and of which group, whoever writes
it: the context carries that, so lower layers need not.
"""

import json
import logging
import secrets
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, TextIO

from elasticep.world.key import Key

_RECONCILE: ContextVar[tuple[Key, str] | None] = ContextVar("reconcile", default=None)

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""What every record has; anything else was passed as ``extra``."""

_QUIET = {
    "kopf": logging.WARNING,
    "kopf.objects": logging.WARNING,
    "aiohttp.access": logging.WARNING,
    "asyncio": logging.WARNING,
    "kubernetes": logging.WARNING,
}
"""Loggers that at INFO have a line for every event, request or start-up step."""


def set_up(*, level: str, stream: TextIO = sys.stdout) -> None:
    """Send the whole process's log to ``stream`` as JSON."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name, least in _QUIET.items():
        logging.getLogger(name).setLevel(max(least, root.level))


def name_the_reconcile(key: Key) -> None:
    """From here on the lines of this task carry the group and a fresh reconcile id."""
    _RECONCILE.set((key, secrets.token_hex(4)))


class JsonFormatter(logging.Formatter):
    """A record as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        line: dict[str, Any] = {
            "time": _rfc3339(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        reconcile = _RECONCILE.get()
        if reconcile is not None:
            key, line["reconcile"] = reconcile
            line |= {"namespace": key.namespace, "name": key.name}
        line |= {k: v for k, v in vars(record).items() if k not in _STANDARD and k not in line}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def _rfc3339(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, tz=UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
