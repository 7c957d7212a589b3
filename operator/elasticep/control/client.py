"""SGLang's HTTP routes, as far as a group's life needs them.

Source: ``srt/entrypoints/elastic_ep.py`` and ``srt/utils/auth.py`` of SGLang 0.5.19 and later.
"""

from dataclasses import dataclass, field
from typing import Any, TypeGuard

import aiohttp

from elasticep.api.reasons import Engine
from elasticep.control.load import unanswered_requests
from elasticep.world.engine import (
    Completion,
    CompletionFailed,
    CompletionSucceeded,
    EngineState,
    EngineUnknown,
)

_STATE_ROUTE = "/is_scaling_elastic_ep"
_SCALE_ROUTE = "/scale_elastic_ep"
_GENERATE_ROUTE = "/generate"
_OPEN_GENERATE_ROUTE = "/health_generate"
"""Generates one token too, takes at least a second, and needs no key."""

_METRICS_ROUTE = "/metrics"

_STATE_TIMEOUT = aiohttp.ClientTimeout(total=3)
_SCALE_TIMEOUT = aiohttp.ClientTimeout(total=10)
_COMPLETION_TIMEOUT = aiohttp.ClientTimeout(total=5)
"""A forward pass stands still while ranks are admitted. One that is given up has still moved
the engine on, which is all that a nudge is for."""

_ONE_TOKEN = {"text": "1", "sampling_params": {"max_new_tokens": 1, "temperature": 0}}
_UNAUTHORIZED = frozenset({401, 403})


@dataclass(frozen=True, kw_only=True)
class Accepted:
    """The engine took the request; the change runs on its own."""


@dataclass(frozen=True, kw_only=True)
class Busy:
    """An operation is pending, ours or another's; a look at the state tells which."""


@dataclass(frozen=True, kw_only=True)
class Refused:
    """The engine will not do it: the request began nothing."""

    code: int
    message: str


@dataclass(frozen=True, kw_only=True)
class Ambiguous:
    """No answer that can be read. The request may have begun an operation or not."""

    message: str


ScaleAnswer = Accepted | Busy | Refused | Ambiguous


@dataclass(frozen=True, kw_only=True)
class EngineClient:
    """The engine of one leader pod."""

    session: aiohttp.ClientSession
    url: str
    """Scheme, address and port, without a path."""
    admin_key: str = field(repr=False)

    async def state(self) -> EngineState | EngineUnknown:
        """What the engine serves with and what it is about; unknown whenever in doubt."""
        try:
            async with self.session.get(
                self.url + _STATE_ROUTE, headers=self._headers, timeout=_STATE_TIMEOUT
            ) as response:
                if response.status in _UNAUTHORIZED:
                    message = "the engine refuses the group's admin key"
                    return EngineUnknown(reason=Engine.UNAUTHORIZED, message=message)
                if response.status == 404:
                    message = f"{self.url}{_STATE_ROUTE} does not exist: not an elastic engine"
                    return EngineUnknown(reason=Engine.NOT_ELASTIC, message=message)
                if response.status != 200:
                    message = f"{_STATE_ROUTE} answers {response.status}"
                    return EngineUnknown(reason=Engine.UNREACHABLE, message=message)
                return _read_state(await response.json(content_type=None))
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            message = f"no answer from {self.url}: {_in_words(error)}"
            return EngineUnknown(reason=Engine.UNREACHABLE, message=message)

    async def request_scale(self, target: int) -> ScaleAnswer:
        """Ask for an absolute EP size. Never sent twice from here, whatever comes back."""
        try:
            async with self.session.post(
                self.url + _SCALE_ROUTE,
                json={"new_ep_size": target},
                headers=self._headers,
                timeout=_SCALE_TIMEOUT,
            ) as response:
                text = await response.text()
                match response.status:
                    case 200:
                        return Accepted()
                    case 409:
                        return Busy()
                    case code if 400 <= code < 500:
                        return Refused(code=code, message=text[:512])
                    case code:
                        return Ambiguous(message=f"{code}: {text[:512]}")
        except (aiohttp.ClientError, TimeoutError, OSError, UnicodeDecodeError) as error:
            return Ambiguous(message=_in_words(error))

    async def load(self) -> int | None:
        """How many requests the engine has not answered yet; nothing when that is unknown."""
        try:
            async with self.session.get(
                self.url + _METRICS_ROUTE, timeout=_STATE_TIMEOUT
            ) as response:
                return unanswered_requests(await response.text()) if response.ok else None
        except (aiohttp.ClientError, TimeoutError, OSError, UnicodeDecodeError):
            return None

    async def complete(self) -> Completion:
        """Have one token generated: a proof of serving, and what moves a scale on."""
        try:
            status, text = await self._generate()
        except (aiohttp.ClientError, TimeoutError, OSError, UnicodeDecodeError) as error:
            return CompletionFailed(message=_in_words(error))
        if status == 200:
            return CompletionSucceeded()
        return CompletionFailed(message=f"{status}: {text[:256]}")

    async def _generate(self) -> tuple[int, str]:
        async with self.session.post(
            self.url + _GENERATE_ROUTE, json=_ONE_TOKEN, timeout=_COMPLETION_TIMEOUT
        ) as response:
            if response.status not in _UNAUTHORIZED:
                return response.status, await response.text()
        async with self.session.get(
            self.url + _OPEN_GENERATE_ROUTE, timeout=_COMPLETION_TIMEOUT
        ) as response:
            return response.status, await response.text()

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.admin_key}"}


def _read_state(body: Any) -> EngineState | EngineUnknown:
    """The state in an answer's body; unknown when the body is not one."""
    if not isinstance(body, dict):
        return EngineUnknown(reason=Engine.UNREACHABLE, message=f"{_STATE_ROUTE}: not an object")
    effective, pending = body.get("effective_ep_size"), body.get("pending_ep_size")
    phase, last_error = body.get("scale_phase"), body.get("last_error")
    safe = body.get("safe_to_terminate_ranks")
    if not _is_size(effective) or not isinstance(phase, str):
        message = f"{_STATE_ROUTE} lacks effective_ep_size or scale_phase"
        return EngineUnknown(reason=Engine.UNREACHABLE, message=message)
    return EngineState(
        effective=effective,
        pending=pending if _is_size(pending) else None,
        phase=phase,
        last_error=str(last_error or ""),
        safe_to_terminate=_ranks(safe),
    )


def _ranks(value: object) -> frozenset[int] | None:
    """The ranks in a list of ranks; nothing when it is not one."""
    if not isinstance(value, list) or not all(isinstance(rank, int) for rank in value):
        return None
    return frozenset(value)


def _is_size(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _in_words(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "timed out"
    return str(error) or type(error).__name__
