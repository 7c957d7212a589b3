"""The leader's side of the rendezvous: who dialled, who registered, who is still there."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, ValidationError

from simengine.faults import FAULTS, Fault
from simengine.operations import OperationLog
from simengine.state_machine import ElasticGroup
from simengine.wire import Channel, Message, ProtocolError

logger = logging.getLogger(__name__)


class Hello(BaseModel):
    """The first message of a joiner."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    offset: int
    ranks: int
    mode: str
    host: str

    @property
    def span(self) -> range:
        """The ranks it brings."""
        return range(self.offset, self.offset + self.ranks)


@dataclass(eq=False)
class Member:
    """A joiner that is connected."""

    hello: Hello
    channel: Channel
    attempt: int
    heard_at: float
    registered: bool = False
    synced: asyncio.Event = field(default_factory=asyncio.Event)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    load_shown: dict[str, list[int]] = field(default_factory=dict)


class Rendezvous:
    """Tells the group of registrations, of ranks that are ready and of ranks that are gone."""

    def __init__(
        self,
        *,
        group: ElasticGroup,
        operations: OperationLog,
        heartbeat_seconds: float,
        faults_for_joiners: Callable[[], list[Fault]],
    ) -> None:
        self.members: list[Member] = []
        self.attempts: Counter[int] = Counter()
        self._group = group
        self._operations = operations
        self._heartbeat_seconds = heartbeat_seconds
        self._faults = faults_for_joiners
        self._server: asyncio.Server | None = None

    async def serve(self, *, host: str, port: int) -> None:
        """Listen for joiners.

        Raises:
            OSError: the address is not ours, or the port is taken.

        """
        self._server = await asyncio.start_server(self._welcome, host, port)

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        channel = Channel(reader, writer)
        try:
            first = await channel.receive()
            if first is not None and first["kind"] == "hello":
                await self._accompany(Hello.model_validate(first), channel)
        except (ProtocolError, ValidationError) as error:
            logger.warning("rendezvous: %s", error)
        finally:
            await channel.close()

    async def _accompany(self, hello: Hello, channel: Channel) -> None:
        self.attempts[hello.offset] += 1
        member = Member(
            hello=hello,
            channel=channel,
            attempt=self.attempts[hello.offset],
            heard_at=time.monotonic(),
        )
        self.members.append(member)
        logger.info("joining cohort from %s dialled in for ranks %s", hello.host, list(hello.span))
        heartbeat = asyncio.create_task(self._beat(member))
        try:
            faults = _written(self._faults())
            await channel.send("welcome", attempt=member.attempt, faults=faults)
            while (message := await channel.receive()) is not None:
                member.heard_at = time.monotonic()
                self._take(member, message)
        finally:
            heartbeat.cancel()
            self._forget(member)

    async def _beat(self, member: Member) -> None:
        """Drop a member that is silent for too long, as Mooncake's coordinator does."""
        while time.monotonic() - member.heard_at < self._heartbeat_seconds:
            await member.channel.send("ping")
            await asyncio.sleep(self._heartbeat_seconds / 3)
        logger.error(
            "ranks %s are silent for %gs", list(member.hello.span), self._heartbeat_seconds
        )
        self._forget(member)
        await member.channel.close()

    def _take(self, member: Member, message: Message) -> None:
        hello = member.hello
        target = hello.span.stop
        match message:
            case {"kind": "register", "load_seconds": float(seconds)}:
                member.registered = True
                if hello.mode == "scale":
                    self._group.register(offset=hello.offset, target=target)
                    self._operations.register(target=target, load_seconds=seconds)
                logger.info(
                    "joining cohort registered: offset=%d target_ep_size=%d", hello.offset, target
                )
            case {"kind": "connected", "connect_seconds": float(seconds)}:
                if hello.mode == "scale":
                    self._operations.connect(target=target, seconds=seconds)
                self._group.ranks_ready(hello.span)
            case {"kind": "synced"}:
                member.synced.set()

    def _forget(self, member: Member) -> None:
        if member.gone.is_set():
            return
        member.gone.set()
        self.members.remove(member)
        self._group.ranks_gone(member.hello.span)
        logger.warning(
            "connection to %s closed: ranks %s are gone",
            member.hello.host,
            list(member.hello.span),
        )

    def among(self, ranks: range) -> list[Member]:
        """Members that bring any of these ranks."""
        return [each for each in self.members if set(each.hello.span).intersection(ranks)]

    async def admit(self, ranks: range) -> None:
        """Set up the data plane with these ranks; returns once they are through or gone."""
        for member in self.among(ranks):
            await member.channel.send("admit", target=ranks.stop)
        for member in self.among(ranks):
            through = [asyncio.create_task(event.wait()) for event in (member.synced, member.gone)]
            _, others = await asyncio.wait(through, return_when=asyncio.FIRST_COMPLETED)
            for other in others:
                other.cancel()

    async def announce(self, ranks: range, kind: str) -> None:
        """Tell the members that bring these ranks."""
        for member in self.among(ranks):
            await member.channel.send(kind)

    async def pass_on(self, faults: Iterable[Fault]) -> None:
        """Tell those who are here of faults that were just switched on."""
        for member in list(self.members):
            await member.channel.send("faults", faults=_written(faults))

    async def show_load(self, load_of: Callable[[int], tuple[int, int]]) -> None:
        """Let each joiner export the load of its own ranks; sent when it has changed."""
        for member in list(self.members):
            load = {str(rank): list(load_of(rank)) for rank in member.hello.span}
            if load != member.load_shown:
                member.load_shown = load
                await member.channel.send("load", ranks=load)


def _written(faults: Iterable[Fault]) -> object:
    return FAULTS.dump_python(tuple(faults), mode="json", by_alias=True)
