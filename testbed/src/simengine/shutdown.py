"""SIGTERM as the engine takes it: seen late, requests finished first, then exit code 0.

New requests are served as before until none is left; those that come after that are lost.

SGLang installs its handler only in a leader that serves.
Any other first process of a container ignores SIGTERM, because it never asked for it, and lives
until its grace period is over (`sigterm_watchdog` in `srt/managers/tokenizer_manager.py`).
"""

from __future__ import annotations

import asyncio
import logging
import signal

from simengine.active_requests import ActiveRequests
from simengine.batching import Batcher
from simengine.health import Health, ServerStatus
from simengine.settings import Settings

logger = logging.getLogger(__name__)


class Shutdown:
    """Waits for SIGTERM, then for the requests that were accepted."""

    def __init__(
        self, *, batcher: Batcher, health: Health, requests: ActiveRequests, settings: Settings
    ) -> None:
        self._batcher = batcher
        self._requests = requests
        self._health = health
        self._poll_seconds = settings.sigterm_poll_seconds
        self._exit_seconds = settings.scheduler_exit_seconds
        self._asked = False
        self._unhealthy = False

    def watch(self) -> None:
        """Take notice of SIGTERM from now on."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._ask)

    def _ask(self) -> None:
        logger.warning("SIGTERM received. Draining requests and shutting down...")
        self._asked = True
        self._unhealthy = self._health.status is ServerStatus.UNHEALTHY
        self._health.status = ServerStatus.LEAVING

    async def finished(self) -> None:
        """Return when the process may leave."""
        while not self._asked:  # noqa: ASYNC110  (the engine polls, and its lateness is the point)
            await asyncio.sleep(self._poll_seconds)
        while remaining := self._requests.generating:
            if self._unhealthy:
                logger.error("Signal SIGTERM received while health check failed. Force exiting.")
                return
            logger.info("Gracefully exiting... Remaining number of requests %d.", remaining)
            await asyncio.sleep(self._poll_seconds)
        logger.info("Gracefully exiting... Remaining number of requests 0.")
        self._batcher.stop()
        await asyncio.sleep(self._exit_seconds)
