"""The rendezvous protocol: JSON objects, one a line, over TCP; `kind` names the message.

Stands in for the TCPStore, the port handshake and Mooncake's coordinator.

joiner to leader: hello, register, connected, synced, pong.
leader to joiner: welcome, admit, serving, load, faults, retired, ping.
"""

from __future__ import annotations

import asyncio
import contextlib
import json

Message = dict[str, object]


class ProtocolError(RuntimeError):
    """A line is not a message; whoever sent it is not one of ours."""


class Channel:
    """One end of a connection; `name` says who is at the other end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        host, port, *_ = writer.get_extra_info("peername") or ("?", 0)
        self.name = f"{host}:{port}"

    async def send(self, kind: str, **content: object) -> None:
        """Send a message; a peer that is gone shows when we read."""
        self._writer.write(json.dumps({"kind": kind, **content}).encode() + b"\n")
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    async def receive(self) -> Message | None:
        """The next message; None once the peer is gone.

        Raises:
            ProtocolError: the line is not a message.

        """
        try:
            line = await self._reader.readline()
        except ConnectionError:
            return None
        if not line.endswith(b"\n"):
            return None
        try:
            message = json.loads(line)
        except ValueError as error:
            raise ProtocolError(f"{self.name} sent no JSON: {line[:80]!r}") from error
        if not isinstance(message, dict) or "kind" not in message:
            raise ProtocolError(f"{self.name} sent no message: {line[:80]!r}")
        return message

    async def close(self) -> None:
        """Hang up."""
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()
