"""A steady stream of completions, and what became of each: the judge of "no request was lost".

with steady_traffic(Flow(url=f"http://{cluster_ip}:30000")) as traffic:
    ...  # move the group about
print(traffic.report())

The stream is open-loop: requests go out by the clock, whatever the answers do, as those of many
clients would.
Each takes a known time, many tokens, so that some are in flight at any moment.
"""

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from itertools import pairwise
from types import SimpleNamespace

import aiohttp

from testbed.errors import TestbedError

_CONNECT_SECONDS = 5.0
"""How long a connection is tried. Within that time the kernel says its SYN again, so a request
that is sent amid an outage may be served after it."""


@dataclass(frozen=True, kw_only=True)
class Flow:
    """What is asked, where and how often.

    `tokens` times the engine's time for a token is how long a request takes; `patience` is how
    many seconds it may.
    Each request has a connection of its own, unless `keep_alive` lets them share.
    """

    url: str
    per_second: float = 20.0
    tokens: int = 25
    patience: float = 60.0
    keep_alive: bool = False


class Fate(StrEnum):
    """What became of a request."""

    SERVED = "served"
    TURNED_AWAY = "turned away"
    """There was nobody to connect to: nothing had accepted it."""
    LOST = "lost"
    """It had been sent over a connection that stood, and got no good answer."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One request; times are seconds since the epoch."""

    sent_at: float
    ended_at: float
    fate: Fate
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Outage:
    """A span in which requests came in vain: from the first of them to the next one served."""

    began_at: float
    ended_at: float

    @property
    def seconds(self) -> float:
        """How long it was."""
        return self.ended_at - self.began_at


@dataclass(frozen=True, kw_only=True)
class TrafficReport:
    """What became of all requests, in the order in which they were sent."""

    outcomes: Sequence[Outcome]

    def of(self, fate: Fate) -> list[Outcome]:
        """The requests with this fate."""
        return [each for each in self.outcomes if each.fate is fate]

    @property
    def failed(self) -> list[Outcome]:
        """Those that were not served, for whatever reason."""
        return [each for each in self.outcomes if each.fate is not Fate.SERVED]

    @property
    def longest_gap(self) -> float:
        """The longest time, in seconds, without a good answer."""
        answers = sorted(each.ended_at for each in self.of(Fate.SERVED))
        return max((later - earlier for earlier, later in pairwise(answers)), default=0.0)

    @property
    def outages(self) -> list[Outage]:
        """The spans in which requests came in vain; the last one may end with the traffic.

        What is closer together than a connection is tried is one outage.
        """
        found: list[Outage] = []
        for number, each in enumerate(self.outcomes):
            if each.fate is Fate.SERVED:
                continue
            began_at = each.sent_at
            if found and began_at - found[-1].ended_at < _CONNECT_SECONDS:
                began_at = found.pop().began_at
            found.append(Outage(began_at=began_at, ended_at=self._next_served(number)))
        return found

    def _next_served(self, number: int) -> float:
        """When the next request was sent that was served; else when the last one ended."""
        later = self.outcomes[number + 1 :]
        served = (each.sent_at for each in later if each.fate is Fate.SERVED)
        return next(served, self.outcomes[-1].ended_at)

    @property
    def downtime(self) -> float:
        """How many seconds the outages have lasted together."""
        return sum(each.seconds for each in self.outages)

    def __str__(self) -> str:
        served, lost = self.of(Fate.SERVED), self.of(Fate.LOST)
        away = self.of(Fate.TURNED_AWAY)
        lines = [
            f"{len(self.outcomes)} requests: {len(served)} served, {len(lost)} lost, "
            f"{len(away)} turned away; longest gap {self.longest_gap:.2f} s, "
            f"downtime {self.downtime:.2f} s in {len(self.outages)} outages"
        ]
        reasons = Counter((each.fate, each.reason) for each in self.failed)
        lines += [f"  {count} {fate}: {reason}" for (fate, reason), count in reasons.most_common()]
        return "\n".join(lines)


@contextmanager
def steady_traffic(flow: Flow) -> Iterator["Traffic"]:
    """Requests go out while the block runs; after it, the last ones have been answered.

    Raises TestbedError when the traffic itself has failed.
    """
    traffic = Traffic(flow)
    traffic.start()
    try:
        yield traffic
    finally:
        traffic.stop()


class Traffic:
    """A thread that sends, so that the caller need not be asynchronous."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._outcomes: list[Outcome] = []
        self._ends = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="traffic", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def stop(self) -> None:
        """Send no more, and wait for the last answers.

        Raises TestbedError when the traffic itself has failed.
        """
        self._ends.set()
        self._thread.join()
        if self._error is not None:
            raise TestbedError(f"the traffic to {self._flow.url} broke off") from self._error

    def report(self) -> TrafficReport:
        """What has been answered up to now, or will never be."""
        ordered = sorted(self._outcomes, key=lambda each: each.sent_at)
        return TrafficReport(outcomes=tuple(ordered))

    def _run(self) -> None:
        try:
            asyncio.run(self._send())
        except Exception as error:
            # Raised again in the caller's thread.
            self._error = error

    async def _send(self) -> None:
        trace = aiohttp.TraceConfig()
        trace.on_request_headers_sent.append(_note_sent)
        connector = aiohttp.TCPConnector(limit=0, force_close=not self._flow.keep_alive)
        timeout = aiohttp.ClientTimeout(
            total=self._flow.patience, sock_connect=min(_CONNECT_SECONDS, self._flow.patience)
        )
        async with (
            aiohttp.ClientSession(
                connector=connector, timeout=timeout, trace_configs=[trace]
            ) as session,
            asyncio.TaskGroup() as requests,
        ):
            now = asyncio.get_running_loop().time
            began, number = now(), 0
            while not self._ends.is_set():
                requests.create_task(self._ask(session))
                number += 1
                await asyncio.sleep(began + number / self._flow.per_second - now())

    async def _ask(self, session: aiohttp.ClientSession) -> None:
        sent_at = time.time()
        seen = SimpleNamespace(sent=False)
        reason = await self._complete(session, seen)
        fate = Fate.LOST if seen.sent else Fate.TURNED_AWAY
        self._outcomes.append(
            Outcome(
                sent_at=sent_at,
                ended_at=time.time(),
                fate=fate if reason else Fate.SERVED,
                reason=reason,
            )
        )

    async def _complete(self, session: aiohttp.ClientSession, seen: SimpleNamespace) -> str:
        """Why there was no good answer; nothing if there was one."""
        url = f"{self._flow.url}/v1/completions"
        body = {"model": "default", "prompt": "Hello", "max_tokens": self._flow.tokens}
        try:
            async with session.post(url, json=body, trace_request_ctx=seen) as response:
                return _judge(response.status, await response.text(), tokens=self._flow.tokens)
        except TimeoutError:
            return f"no answer within {self._flow.patience:g} s" if seen.sent else "no connection"
        except aiohttp.ClientError as error:
            return f"{type(error).__name__}: {error}"


def _judge(status: int, text: str, *, tokens: int) -> str:
    if status != HTTPStatus.OK:
        return f"{status}: {text[:200]}"
    try:
        made = json.loads(text)["usage"]["completion_tokens"]
    except (ValueError, KeyError, TypeError):
        return f"no completion: {text[:200]}"
    return "" if made == tokens else f"{made} tokens instead of {tokens}"


async def _note_sent(
    _: aiohttp.ClientSession,
    context: SimpleNamespace,
    __: aiohttp.TraceRequestHeadersSentParams,
) -> None:
    """Whoever accepted the connection has the request from now on."""
    context.trace_request_ctx.sent = True
