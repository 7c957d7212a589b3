"""The resolver over HTTP, for simulated engines that run in containers.

`POST /resolve {"version": "0.5.19", "argv": [...], "infiniband": ["mlx5_0"]}` answers with a
verdict; `infiniband` may be left out, which means a container without RDMA devices.
`GET /healthz` answers 200 with the versions that are warm.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from json import JSONDecodeError
from typing import Any, TypeGuard

from aiohttp import web

from sglang_resolver.environment import EnvironmentFailedError
from sglang_resolver.warm_worker import WarmWorker, WorkerFailedError

WORKERS: web.AppKey[Mapping[str, WarmWorker]] = web.AppKey("workers")


class BadRequestError(Exception):
    """The request's body is not a question; the text says what to send."""


def application(workers: Mapping[str, WarmWorker]) -> web.Application:
    """The HTTP application; it warms its workers in the background and stops them at the end."""
    app = web.Application()
    app[WORKERS] = workers
    app.cleanup_ctx.append(keep_workers)
    app.add_routes([web.post("/resolve", resolve), web.get("/healthz", healthz)])
    return app


async def keep_workers(app: web.Application) -> AsyncIterator[None]:
    """Warm the workers while requests are already taken; stop them when the service ends."""
    warming = asyncio.create_task(warm_up(app[WORKERS]))
    yield
    warming.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await warming
    for worker in app[WORKERS].values():
        await asyncio.to_thread(worker.close)


async def warm_up(workers: Mapping[str, WarmWorker]) -> None:
    """Start one worker after the other; a failure shows at the first question."""
    for worker in workers.values():
        with contextlib.suppress(EnvironmentFailedError, WorkerFailedError):
            await asyncio.to_thread(worker.start)


async def healthz(request: web.Request) -> web.Response:
    """Say that the service answers, and which versions answer at once."""
    warm = [version for version, worker in request.app[WORKERS].items() if worker.warm]
    return web.json_response({"warm": warm})


async def resolve(request: web.Request) -> web.Response:
    """Answer one command line; 400 for a body that is no question, 503 when a worker failed."""
    workers = request.app[WORKERS]
    try:
        worker, argv, infiniband = question(await request.json(), workers)
        verdict = await asyncio.to_thread(worker.resolve, argv, infiniband=infiniband)
    except (BadRequestError, JSONDecodeError) as error:
        return web.json_response({"error": str(error)}, status=400)
    except (EnvironmentFailedError, WorkerFailedError) as error:
        return web.json_response({"error": str(error)}, status=503)
    return web.json_response(verdict.as_json())


def question(
    body: Any, workers: Mapping[str, WarmWorker]
) -> tuple[WarmWorker, list[str], list[str] | None]:
    """The worker, command line and devices that a body asks about. Raises BadRequestError."""
    if not isinstance(body, dict):
        raise BadRequestError("the body must be a JSON object")
    version = body.get("version")
    if not isinstance(version, str) or version not in workers:
        raise BadRequestError(f"version must be one of {', '.join(workers)}; got {version!r}")
    argv = body.get("argv")
    if not is_text_list(argv):
        raise BadRequestError("argv must be a list of strings")
    infiniband = body.get("infiniband")
    if infiniband is not None and not is_text_list(infiniband):
        raise BadRequestError("infiniband must be a list of device names, or left out")
    return workers[version], argv, infiniband


def is_text_list(value: object) -> TypeGuard[list[str]]:
    """True for a list that holds strings only."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
