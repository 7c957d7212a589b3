"""Ranks that a group has given back: when their processes may end, and who ended them too early.

No released SGLang can do this; the words are those of sglang pull request 33111, whose ranks park
after the smaller group has been committed and are named once nobody needs them any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from simengine.scale_protocol import Phase

NEXT_STEP = {
    Phase.DRAINING: Phase.RETIRING,
    Phase.RETIRING: Phase.RECONFIGURING,
}


@dataclass
class Retirement:
    """`parting` ranks serve no more, but their peers still reach into their memory.

    `safe` ones may end. A process that ends while its ranks are parting breaks the group, as the
    loss of any rank does.
    """

    parting: set[int] = field(default_factory=set)
    safe: set[int] = field(default_factory=set)
    gone_too_early: set[int] = field(default_factory=set)

    def part(self, ranks: Iterable[int]) -> None:
        """The group has been committed without these ranks."""
        self.parting.update(ranks)

    def release(self) -> range:
        """Nobody needs the parting ranks any more; returns them."""
        released = range(min(self.parting, default=0), max(self.parting, default=-1) + 1)
        self.safe |= self.parting
        self.parting.clear()
        return released

    def ranks_gone(self, ranks: set[int]) -> None:
        """The processes of these ranks no longer answer."""
        self.gone_too_early |= self.parting & ranks
        self.parting -= ranks

    def report(self) -> dict[str, list[int]]:
        """As GET /sim/state shows it."""
        return {
            "parting": sorted(self.parting),
            "safe": sorted(self.safe),
            "gone_too_early": sorted(self.gone_too_early),
        }
