"""Every group is looked at every few minutes, whatever the watches have missed."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from elasticep.kube.port import GROUPS, Kube, KubeError
from elasticep.run.groups import GroupBook, key_of
from elasticep.world.key import Key

_LOG = logging.getLogger(__name__)

_RETRY_SECONDS = 30.0


@dataclass(kw_only=True)
class Resync:
    """Lists the groups, live, and rings for each."""

    kube: Kube
    namespaces: Sequence[str]
    """Where to look; everywhere when empty."""
    ring: Callable[[Key], None]
    book: GroupBook
    clock: Callable[[], float]
    spread: Callable[[], float]
    """A factor around 1, drawn anew each time: replicas of us do not list in step."""
    every_seconds: float = 300.0
    last_success: float | None = field(default=None, init=False)
    """The clock's time of the last complete list."""

    async def run(self) -> None:
        """List for ever."""
        while True:
            seconds = await self._once() * self.spread()
            await asyncio.sleep(seconds)

    async def _once(self) -> float:
        """One round. Returns the seconds until the next is due."""
        try:
            keys = await self._list()
        except KubeError as error:
            _LOG.warning("groups could not be listed: %s", error)
            return min(_RETRY_SECONDS, self.every_seconds)
        self.book.keep_only(keys)
        for key in keys:
            self.ring(key)
        self.last_success = self.clock()
        return self.every_seconds

    async def _list(self) -> set[Key]:
        keys = set()
        for namespace in self.namespaces or (None,):
            for group in await self.kube.list(GROUPS, namespace=namespace):
                self.book.saw(group)
                keys.add(key_of(group))
        return keys
