"""A place with an operator in it, and an engine for its leader pod."""

from collections.abc import AsyncIterator

import aiohttp
import pytest
from tests.reconcile.engine_stub import EngineStub, engine
from tests.reconcile.place import Place


@pytest.fixture
async def stub() -> AsyncIterator[EngineStub]:
    """What answers at the leader pod's address."""
    async with engine() as stub:
        yield stub


@pytest.fixture
async def place(stub: EngineStub) -> AsyncIterator[Place]:
    """A namespace with nothing in it."""
    async with aiohttp.ClientSession() as session:
        yield Place(session=session, engine_port=stub.port)
