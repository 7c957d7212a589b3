"""What a command line means, as the real argument resolver says."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

import aiohttp
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from simengine.settings import Settings
from simengine.validation import explain

RESOLVER_TIMEOUT_SECONDS = 180.0
RESOLVER_ATTEMPTS = 20
RETRY_SECONDS = 1.0

logger = logging.getLogger(__name__)


class ResolverError(RuntimeError):
    """The resolver service cannot be reached or does not answer as agreed."""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """The real process would have printed `output` and left with `exit_code`."""

    exit_code: int
    output: str


@dataclass(frozen=True, kw_only=True)
class Address:
    """A host and a port."""

    host: str
    port: int


class EngineArguments(BaseModel):
    """The resolved values that the simulation acts on, named as in SGLang's ServerArgs."""

    model_config = ConfigDict(frozen=True, extra="allow")

    model_path: str
    host: str
    port: int
    tp_size: int
    served_model_name: str | None = None
    dist_init_addr: str | None = None
    elastic_ep_backend: str | None = None
    max_ep_size: int | None = None
    elastic_ep_scale_timeout: float = 600.0
    ep_join_mode: str | None = None
    ep_join_rank_offset: int = 0
    api_key: str | None = None
    admin_api_key: str | None = None
    enable_metrics: bool = False

    @property
    def model_name(self) -> str:
        """The name clients ask for; the resolver's own model path is a stand-in of its host."""
        return self.served_model_name or self.model_path

    @property
    def join_target(self) -> int:
        """The size a group will have once this joiner is in it."""
        return self.ep_join_rank_offset + self.tp_size

    @property
    def rendezvous(self) -> Address | None:
        """Where leader and joiners meet; None for a process that nobody can join."""
        if self.dist_init_addr is None:
            return None
        host, _, port = self.dist_init_addr.rpartition(":")
        return Address(host=host.strip("[]"), port=int(port))


class Verdict(BaseModel):
    """The answer of POST /resolve."""

    model_config = ConfigDict(frozen=True)

    accepted: bool
    exit_code: int
    output: str
    resolved: dict[str, JsonValue] | None = Field(default=None)


async def resolve(argv: Sequence[str], *, settings: Settings) -> EngineArguments | Refusal:
    """Ask the resolver service for its verdict on a command line.

    Raises:
        ResolverError: the service cannot be reached or does not answer as agreed.

    """
    verdict = await _ask(argv, settings=settings)
    if not verdict.accepted:
        return Refusal(exit_code=verdict.exit_code, output=verdict.output)
    sys.stderr.write(verdict.output)
    try:
        return EngineArguments.model_validate(verdict.resolved)
    except ValidationError as error:
        raise ResolverError(f"the resolver's answer is unusable: {explain(error)}") from error


async def _ask(argv: Sequence[str], *, settings: Settings) -> Verdict:
    question = {
        "version": settings.version,
        "argv": list(argv),
        # Without devices the directory that the engine looks into does not exist.
        "infiniband": list(settings.infiniband) or None,
    }
    timeout = aiohttp.ClientTimeout(total=RESOLVER_TIMEOUT_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        for attempt in range(1, RESOLVER_ATTEMPTS + 1):
            try:
                async with session.post(f"{settings.resolver}/resolve", json=question) as response:
                    if response.status != HTTPStatus.SERVICE_UNAVAILABLE:
                        response.raise_for_status()
                        return Verdict.model_validate(await response.json())
                    logger.warning("resolver has no verdict yet: %s", await response.text())
            except (aiohttp.ClientConnectionError, TimeoutError) as error:
                logger.warning("resolver attempt %d failed: %s", attempt, error)
            except (aiohttp.ClientError, ValidationError) as error:
                raise ResolverError(f"{settings.resolver} does not answer: {error}") from error
            await asyncio.sleep(RETRY_SECONDS)
    raise ResolverError(
        f"cannot reach the argument resolver at {settings.resolver}; "
        "set ELASTICEP_SIM_RESOLVER to where it listens"
    )
