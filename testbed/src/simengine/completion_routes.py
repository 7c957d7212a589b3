"""Completions: `max_tokens` words, the same for every prompt."""

from __future__ import annotations

import json
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from simengine.batching import Request, WorldBrokenError
from simengine.validation import explain

if TYPE_CHECKING:
    from simengine.leader import Leader

DEFAULT_MAX_TOKENS = 16
DEFAULT_GENERATE_TOKENS = 128


class Completion(BaseModel):
    """What we read of the body of POST /v1/completions."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    prompt: JsonValue
    max_tokens: Annotated[int, Field(ge=1)] = DEFAULT_MAX_TOKENS
    stream: bool = False


class Sampling(BaseModel):
    """What we read of `sampling_params`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    max_new_tokens: Annotated[int, Field(ge=1)] = DEFAULT_GENERATE_TOKENS


class Generation(BaseModel):
    """What we read of the body of POST /generate."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    sampling_params: Sampling = Sampling()


class CompletionRoutes:
    """The routes that make the group work."""

    def __init__(self, leader: Leader) -> None:
        self._leader = leader

    def add_to(self, router: web.UrlDispatcher) -> None:
        """Add the routes."""
        router.add_post("/v1/completions", self._complete)
        router.add_post("/generate", self._generate)

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        try:
            wish = Completion.model_validate_json(await request.read())
        except ValidationError as error:
            return _failure(explain(error), HTTPStatus.BAD_REQUEST)
        work = self._submit(wish.max_tokens)
        if wish.stream:
            return await self._stream(request, work)
        try:
            text = await self._text(work)
        except WorldBrokenError as error:
            return _failure(str(error), HTTPStatus.INTERNAL_SERVER_ERROR)
        usage = {"completion_tokens": work.made, "prompt_tokens": 1, "total_tokens": work.made + 1}
        return web.json_response(self._chunk(text, finish="length") | {"usage": usage})

    async def _generate(self, request: web.Request) -> web.Response:
        try:
            wish = Generation.model_validate_json(await request.read())
        except ValidationError as error:
            return _failure(explain(error), HTTPStatus.BAD_REQUEST)
        work = self._submit(wish.sampling_params.max_new_tokens)
        try:
            text = await self._text(work)
        except WorldBrokenError as error:
            return _failure(str(error), HTTPStatus.INTERNAL_SERVER_ERROR)
        return web.json_response(
            {"text": text, "meta_info": {"completion_tokens": work.made, "dp_rank": work.rank}}
        )

    def _submit(self, max_tokens: int) -> Request:
        ranks = self._leader.group.open_ranks
        return self._leader.batcher.submit(max_tokens=max_tokens, ranks=ranks)

    async def _text(self, work: Request) -> str:
        try:
            return "".join([token async for token in work.tokens()])
        finally:
            self._leader.batcher.abort(work)

    async def _stream(self, request: web.Request, work: Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        try:
            remaining = work.max_tokens
            async for token in work.tokens():
                remaining -= 1
                finish = None if remaining else "length"
                await _send(response, self._chunk(token, finish=finish))
        except WorldBrokenError as error:
            await _send(response, {"error": {"message": str(error), "code": 500}})
        finally:
            self._leader.batcher.abort(work)
        await response.write(b"data: [DONE]\n\n")
        return response

    def _chunk(self, text: str, *, finish: str | None) -> dict[str, object]:
        return {
            "id": "cmpl-simulated",
            "object": "text_completion",
            "created": int(time.time()),
            "model": self._leader.arguments.model_name,
            "choices": [{"index": 0, "text": text, "finish_reason": finish}],
        }


async def _send(response: web.StreamResponse, chunk: dict[str, object]) -> None:
    await response.write(f"data: {json.dumps(chunk)}\n\n".encode())


def _failure(text: str, status: HTTPStatus) -> web.Response:
    body = {"object": "error", "message": text, "type": status.phrase, "code": status.value}
    return web.json_response(body, status=status)
