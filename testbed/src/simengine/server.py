"""An HTTP server on the engine's host and port."""

from __future__ import annotations

import logging

from aiohttp import web

logger = logging.getLogger(__name__)


async def listen(application: web.Application, *, host: str, port: int) -> web.AppRunner:
    """Serve an application; a client that hangs up cancels its request, as SGLang aborts it.

    Raises:
        OSError: the address is not ours, or the port is taken.

    """
    runner = web.AppRunner(application, access_log=None, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    logger.info("Uvicorn running on http://%s:%d (Press CTRL+C to quit)", host, port)
    return runner
