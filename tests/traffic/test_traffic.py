"""The judge of lost requests sees every way to lose one."""

import asyncio
import json
import socket
import struct
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import pytest

from testbed.errors import TestbedError
from testbed.traffic import Fate, Flow, Outcome, TrafficReport, steady_traffic

Answer = Callable[[int, asyncio.StreamWriter], Awaitable[None]]


class Server:
    """Answers each request as it is told to, by its number from 0."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.connections = 0
        self.requests = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
                await reader.readexactly(length)
                number, self.requests = self.requests, self.requests + 1
                await self._answer(number, writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@contextmanager
def serving(server: Server, *, port: int = 0) -> Iterator[str]:
    """The server runs in a thread of its own; its URL."""
    ready, ends = threading.Event(), threading.Event()
    address: list[int] = []

    async def live() -> None:
        async with await asyncio.start_server(server.serve, "127.0.0.1", port) as listening:
            address.append(listening.sockets[0].getsockname()[1])
            ready.set()
            while not ends.is_set():  # noqa: ASYNC110 - set by another thread
                await asyncio.sleep(0.01)

    thread = threading.Thread(target=lambda: asyncio.run(live()))
    thread.start()
    assert ready.wait(5)
    try:
        yield f"http://127.0.0.1:{address[0]}"
    finally:
        ends.set()
        thread.join()


def http(status: str, body: object) -> bytes:
    text = json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(text)}"
    return head.encode() + b"\r\n\r\n" + text


def good(tokens: int = 25) -> bytes:
    return http("200 OK", {"usage": {"completion_tokens": tokens}})


async def well(_: int, writer: asyncio.StreamWriter) -> None:
    writer.write(good())


async def reset(_: int, writer: asyncio.StreamWriter) -> None:
    """RST, as from a process that was killed."""
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def hang_up(_: int, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def break_off(_: int, writer: asyncio.StreamWriter) -> None:
    writer.write(good()[:-5])
    writer.close()


async def fail(_: int, writer: asyncio.StreamWriter) -> None:
    writer.write(http("500 Internal Server Error", {"message": "ranks [4] do not answer"}))


async def say_too_little(_: int, writer: asyncio.StreamWriter) -> None:
    writer.write(good(tokens=3))


async def babble(_: int, writer: asyncio.StreamWriter) -> None:
    writer.write(http("200 OK", "<html>"))


async def say_nothing(_: int, __: asyncio.StreamWriter) -> None:
    """Leave the request without an answer."""


def until(true: Callable[[], object]) -> None:
    """Wait for something that must come."""
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def run(url: str, *, patience: float = 60.0, keep_alive: bool = False) -> TrafficReport:
    """What becomes of some twenty requests."""
    flow = Flow(url=url, per_second=50, patience=patience, keep_alive=keep_alive)
    with steady_traffic(flow) as traffic:
        until(lambda: len(traffic.report().outcomes) >= 20)
    return traffic.report()


def test_a_server_that_serves_has_no_failure_and_no_outage() -> None:
    server = Server(well)
    with serving(server) as url:
        report = run(url)
    assert len(report.outcomes) == len(report.of(Fate.SERVED)) == server.requests
    assert (report.failed, report.outages) == ([], [])


@pytest.mark.parametrize(
    ("manner", "reason"),
    [
        (reset, "ClientOSError"),
        (hang_up, "ServerDisconnectedError"),
        (break_off, "ClientPayloadError"),
        (fail, "500: "),
        (say_too_little, "3 tokens instead of 25"),
        (babble, "no completion"),
        (say_nothing, "no answer within 2 s"),
    ],
)
def test_one_accepted_request_without_a_good_answer_is_lost(manner: Answer, reason: str) -> None:
    async def mostly_well(number: int, writer: asyncio.StreamWriter) -> None:
        await (manner if number == 5 else well)(number, writer)

    with serving(Server(mostly_well)) as url:
        report = run(url, patience=2)
    (lost,) = report.failed
    assert (lost.fate, lost.reason[: len(reason)]) == (Fate.LOST, reason)
    assert len(report.outages) == 1
    assert reason in str(report)


def test_requests_that_nobody_accepts_are_turned_away() -> None:
    with socket.socket() as bound_but_deaf:
        bound_but_deaf.bind(("127.0.0.1", 0))
        report = run(f"http://127.0.0.1:{bound_but_deaf.getsockname()[1]}")
    assert {each.fate for each in report.outcomes} == {Fate.TURNED_AWAY}


def test_a_server_that_comes_and_goes_is_an_outage() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with steady_traffic(Flow(url=f"http://127.0.0.1:{port}", per_second=50)) as traffic:
        with serving(Server(well), port=port):
            until(lambda: traffic.report().of(Fate.SERVED))
        gone_at = time.time()
        until(lambda: [each for each in traffic.report().failed if each.sent_at > gone_at])
        back_at = time.time()
        with serving(Server(well), port=port):
            until(lambda: traffic.report().outcomes[-1].fate is Fate.SERVED)
    report = traffic.report()
    assert report.longest_gap > back_at - gone_at
    assert report.downtime > 0


def test_slow_answers_do_not_slow_the_sending() -> None:
    gate = threading.Event()

    async def late(_: int, writer: asyncio.StreamWriter) -> None:
        while not gate.is_set():  # noqa: ASYNC110 - set by another thread
            await asyncio.sleep(0.01)
        writer.write(good())

    server = Server(late)
    with serving(server) as url, steady_traffic(Flow(url=url, per_second=50)) as traffic:
        until(lambda: server.requests >= 20)
        assert not traffic.report().outcomes
        gate.set()
    assert len(traffic.report().of(Fate.SERVED)) == server.requests


def test_each_request_has_a_connection_of_its_own_unless_they_share() -> None:
    alone, shared = Server(well), Server(well)
    with serving(alone) as url:
        run(url)
    with serving(shared) as url:
        run(url, keep_alive=True)
    assert alone.connections == alone.requests
    assert shared.connections < shared.requests / 2


def test_traffic_that_cannot_be_sent_at_all_is_an_error_of_its_own() -> None:
    flow = Flow(url="http://127.0.0.1:1", per_second=0)
    with pytest.raises(TestbedError, match="broke off"), steady_traffic(flow):
        until(lambda: "traffic" not in {thread.name for thread in threading.enumerate()})


def outcome(sent_at: float, fate: Fate, *, took: float = 1.0) -> Outcome:
    return Outcome(sent_at=sent_at, ended_at=sent_at + took, fate=fate)


def test_report_tells_gaps_from_outages() -> None:
    served, away, lost = Fate.SERVED, Fate.TURNED_AWAY, Fate.LOST
    report = TrafficReport(
        outcomes=[
            outcome(10, served),
            outcome(11, lost, took=9),
            outcome(12, away),
            outcome(13, served, took=5),
            outcome(14, away),
            outcome(15, served),
            outcome(20, served),
            outcome(21, away),
        ]
    )
    assert [(each.began_at, each.ended_at) for each in report.outages] == [(11, 15), (21, 22)]
    assert (report.downtime, report.longest_gap) == (5, 5)
    assert len(report.failed) == 4
