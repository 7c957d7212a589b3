import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestServer

from sglang_resolver import client
from sglang_resolver.client import ResolverUnavailableError
from sglang_resolver.service import application
from sglang_resolver.warm_worker import WarmWorker


@pytest.fixture
async def service(worker: WarmWorker) -> AsyncIterator[TestServer]:
    async with TestServer(application({"0.5.19": worker})) as server:
        yield server


async def ask(service: TestServer, version: str, argv: list[str]) -> client.Verdict:
    url = str(service.make_url("/"))
    return await asyncio.to_thread(client.resolve, url, version, argv, infiniband=["mlx5_0"])


async def test_the_client_gets_the_workers_verdict(service: TestServer) -> None:
    accepted, refused = await asyncio.gather(
        ask(service, "0.5.19", []), ask(service, "0.5.19", ["refuse"])
    )
    assert accepted.resolved is not None
    assert accepted.resolved["infiniband"] == ["mlx5_0"]
    assert (refused.exit_code, refused.output, refused.accepted) == (2, "error: argument", False)


async def test_the_service_survives_a_dead_worker(service: TestServer) -> None:
    with pytest.raises(ResolverUnavailableError, match="503"):
        await ask(service, "0.5.19", ["die"])
    assert (await ask(service, "0.5.19", [])).accepted


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"version": "0.4", "argv": []}, "version must be one of 0.5.19"),
        ({"version": "0.5.19"}, "argv must be a list of strings"),
        ({"version": "0.5.19", "argv": [4]}, "argv must be a list of strings"),
        ({"version": "0.5.19", "argv": [], "infiniband": "mlx5_0"}, "infiniband must be a list"),
        ([], "the body must be a JSON object"),
    ],
)
async def test_a_body_that_is_no_question_is_refused(
    service: TestServer, body: object, field: str
) -> None:
    async with ClientSession() as session:
        answer = await session.post(service.make_url("/resolve"), json=body)
        assert answer.status == 400
        assert field in (await answer.json())["error"]


async def test_health_names_the_warm_versions(service: TestServer) -> None:
    await ask(service, "0.5.19", [])
    async with ClientSession() as session:
        answer = await session.get(service.make_url("/healthz"))
        assert await answer.json() == {"warm": ["0.5.19"]}


async def test_a_service_that_is_not_there_is_named(unused_tcp_port: int) -> None:
    url = f"http://127.0.0.1:{unused_tcp_port}"
    with pytest.raises(ResolverUnavailableError, match=url):
        await asyncio.to_thread(client.resolve, url, "0.5.19", [])
