"""One process at a time acts: the one whose name stands in the Lease.

The rules and times are client-go's. A contender does not trust the holder's clock: a Lease is
free when it has stood unchanged, by the contender's own clock, for as long as it is meant to last.
The holder gives up well before that, by its own monotonic clock, whatever the API server does.

Not the official client's elector: that one goes on leading when the API server is lost, and a
call that hangs is not bounded by its deadline.
"""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from elasticep.kube.port import LEASES, Kube, NotFoundError

_LOG = logging.getLogger(__name__)


class LeaseLostError(Exception):
    """This process may not act any more."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The times of a Lease, in seconds; each is shorter than the one before."""

    duration: float = 15.0
    """A Lease that is unchanged for so long is free."""
    renew_deadline: float = 10.0
    """A holder that could not renew for so long stops."""
    retry_period: float = 2.0
    """Between two tries."""


@dataclass(kw_only=True)
class Lease:
    """A claim on one Lease object."""

    kube: Kube
    namespace: str
    name: str
    identity: str
    """Ours alone among all processes that may run at once."""
    now: Callable[[], datetime]
    terms: Terms = Terms()
    _spec: Mapping[str, Any] = field(default_factory=dict, init=False)
    """The spec as it was last seen or written."""
    _changed_at: float = field(default=0.0, init=False)
    """Our own time when the spec was first seen as it is."""
    _renewed_at: float | None = field(default=None, init=False)
    """Our own time before the last write that made the Lease ours; nothing when it is not."""

    async def acquire(self) -> None:
        """Return once the Lease is ours, however long that takes."""
        told = None
        while not await self._succeeds(self._take):
            if self._holder and self._holder != told:
                _LOG.info("waiting for Lease %s, held by %s", self._where, self._holder)
                told = self._holder
            await asyncio.sleep(self.terms.retry_period)
        _LOG.info("holding Lease %s as %s", self._where, self.identity)

    async def hold(self) -> None:
        """Renew the Lease, which is ours, for as long as that works.

        Raises:
            LeaseLostError: somebody else has it, or it could not be renewed in time.
        """
        while self._renewed_at is not None:
            deadline = self._renewed_at + self.terms.renew_deadline
            try:
                async with asyncio.timeout_at(deadline):
                    await self._renew()
            except TimeoutError:
                break
        self._renewed_at = None
        raise LeaseLostError(
            f"Lease {self._where} could not be renewed for {self.terms.renew_deadline:g} s"
        )

    async def release(self) -> None:
        """Let the next contender have the Lease at once, if it is ours and can be reached."""
        if self._renewed_at is not None and await self._succeeds(self._give_back):
            _LOG.info("released Lease %s", self._where)
        self._renewed_at = None

    @property
    def _where(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def _holder(self) -> str:
        return self._spec.get("holderIdentity") or ""

    async def _renew(self) -> None:
        await asyncio.sleep(self.terms.retry_period)
        while not await self._succeeds(self._take):
            if self._holder not in {"", self.identity}:
                self._renewed_at = None
                raise LeaseLostError(f"Lease {self._where} is now held by {self._holder}")
            await asyncio.sleep(self.terms.retry_period)

    async def _succeeds(self, step: Callable[[], Awaitable[bool]]) -> bool:
        """Whether the step did what it is for, in time for another try before the deadline."""
        try:
            async with asyncio.timeout(self.terms.renew_deadline / 2):
                return await step()
        # Whatever went wrong, known or not: the Lease was not written, and the deadline runs.
        except Exception as error:
            _LOG.warning("Lease %s: %s", self._where, str(error) or type(error).__name__)
            return False

    async def _take(self) -> bool:
        """Make or renew the Lease in our name, unless somebody else has it."""
        started = self._time()
        try:
            lease = await self.kube.get(LEASES, self.namespace, self.name)
        except NotFoundError:
            written = await self.kube.create(LEASES, self._manifest())
        else:
            self._see(lease)
            if not self._is_free():
                return False
            written = await self.kube.replace(LEASES, {**lease, "spec": self._claim()})
        self._see(written)
        self._renewed_at = started
        return True

    async def _give_back(self) -> bool:
        lease = await self.kube.get(LEASES, self.namespace, self.name)
        self._see(lease)
        if self._holder != self.identity:
            return False
        free = {**self._claim(), "holderIdentity": "", "leaseDurationSeconds": 1}
        await self.kube.replace(LEASES, {**lease, "spec": free})
        return True

    def _see(self, lease: Mapping[str, Any]) -> None:
        if lease["spec"] != self._spec:
            self._spec = lease["spec"]
            self._changed_at = self._time()

    def _is_free(self) -> bool:
        if self._holder in {"", self.identity}:
            return True
        lasts: float = self._spec.get("leaseDurationSeconds", self.terms.duration)
        return self._time() - self._changed_at > lasts

    def _manifest(self) -> dict[str, Any]:
        return {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"namespace": self.namespace, "name": self.name},
            "spec": self._claim(),
        }

    def _claim(self) -> dict[str, Any]:
        moment = self.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        transitions = self._spec.get("leaseTransitions", 0)
        mine = self._holder == self.identity
        return {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": math.ceil(self.terms.duration),
            "acquireTime": self._spec.get("acquireTime", moment) if mine else moment,
            "renewTime": moment,
            "leaseTransitions": transitions if mine or not self._spec else transitions + 1,
        }

    @staticmethod
    def _time() -> float:
        return asyncio.get_running_loop().time()


@dataclass(frozen=True, kw_only=True)
class Unopposed:
    """A claim without an object, for a process that is told that it is the only one."""

    async def acquire(self) -> None:
        """Return at once."""

    async def hold(self) -> None:
        """Never return."""
        await asyncio.Event().wait()

    async def release(self) -> None:
        """Nothing is to be given back."""
