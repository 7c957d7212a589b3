"""Health as the engine proves it: by a token, which takes a second at least.

`/health` and `/health_generate` are one route of SGLang (`health_generate` in
`srt/entrypoints/http_server.py`): each puts a one-token request through the schedulers, unless
something is running already, and looks for the token once a second.
So a probe is a forward pass, and a probe with a timeout of a second never succeeds.
"""

from __future__ import annotations

import asyncio
import logging
from enum import Enum, auto

from simengine.batching import Batcher
from simengine.settings import Settings

logger = logging.getLogger(__name__)


class ServerStatus(Enum):
    """What the server thinks of itself."""

    STARTING = auto()
    UP = auto()
    UNHEALTHY = auto()
    LEAVING = auto()


class Health:
    """The state behind the health routes."""

    def __init__(self, *, batcher: Batcher, settings: Settings) -> None:
        self.status = ServerStatus.STARTING
        self._batcher = batcher
        self._poll_seconds = settings.health_poll_seconds
        self._timeout_seconds = settings.health_timeout_seconds

    async def check(self) -> bool:
        """Whether a token came in time."""
        if self.status in (ServerStatus.STARTING, ServerStatus.LEAVING):
            return False
        now = asyncio.get_running_loop().time
        began = now()
        probe = None if self._batcher.busy else self._batcher.submit(max_tokens=1, ranks=1)
        try:
            while now() < began + self._timeout_seconds:
                await asyncio.sleep(self._poll_seconds)
                if self._batcher.last_token_at > began:
                    self.status = ServerStatus.UP
                    return True
        finally:
            if probe is not None:
                self._batcher.abort(probe)
        logger.error(
            "Health check failed. Server couldn't get a response from detokenizer for last "
            "%g seconds.",
            self._timeout_seconds,
        )
        self.status = ServerStatus.UNHEALTHY
        return False
