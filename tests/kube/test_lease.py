"""Who holds the Lease, by a real API server; and what becomes of a holder that loses it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.kube.fake import FakeKube, Fault

from elasticep.kube.lease import Lease, LeaseLostError, Terms
from elasticep.kube.port import LEASES, ForbiddenError, Kube, UnavailableError

QUICK = Terms(duration=3, renew_deadline=2, retry_period=0.1)
PATIENCE = 30


def contender(
    kube: Kube, namespace: str, identity: str, *, terms: Terms = QUICK, ahead: float = 0
) -> Lease:
    """A process that wants the Lease, whose wall clock may be wrong."""
    return Lease(
        kube=kube,
        namespace=namespace,
        name="one",
        identity=identity,
        now=lambda: datetime.now(tz=UTC) + timedelta(seconds=ahead),
        terms=terms,
    )


async def record(kube: Kube, namespace: str) -> dict[str, Any]:
    spec: dict[str, Any] = (await kube.get(LEASES, namespace, "one"))["spec"]
    return spec


async def until_renewed(kube: Kube, namespace: str, *, times: int) -> None:
    """The Lease has been written so often."""
    seen = set()

    async def written_often() -> bool:
        seen.add((await record(kube, namespace))["renewTime"])
        return len(seen) > times

    await eventually(written_often)


async def eventually(holds: Callable[[], Awaitable[object]]) -> None:
    """It holds before long."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if await holds():
                return
            await asyncio.sleep(QUICK.retry_period / 4)


@asynccontextmanager
async def background(step: Coroutine[Any, Any, None]) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(step)
    yield task
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_the_record_says_who_holds_it_and_for_how_long(real: Kube, namespace: str) -> None:
    await contender(real, namespace, "a").acquire()
    held = await record(real, namespace)
    assert held["holderIdentity"] == "a"
    assert held["leaseDurationSeconds"] == QUICK.duration
    assert held["acquireTime"] == held["renewTime"]
    assert held["leaseTransitions"] == 0


@pytest.mark.parametrize("ahead", [-3600, 3600], ids=["slow", "fast"])
async def test_a_lease_that_is_renewed_is_kept(real: Kube, namespace: str, ahead: float) -> None:
    """Whatever the holder's wall clock says."""
    first = contender(real, namespace, "a", ahead=ahead)
    await first.acquire()
    second = contender(real, namespace, "b")
    async with background(first.hold()) as holding, background(second.acquire()) as waiting:
        # More renewals than fit into the time after which a silent Lease is free.
        await until_renewed(real, namespace, times=35)
        assert not waiting.done()
        assert not holding.done()
    held = await record(real, namespace)
    assert (held["holderIdentity"], held["leaseTransitions"]) == ("a", 0)
    assert held["acquireTime"] < held["renewTime"]


async def test_a_lease_that_is_given_back_is_taken(real: Kube, namespace: str) -> None:
    long = Terms(duration=3600, renew_deadline=10, retry_period=0.1)
    first = contender(real, namespace, "a", terms=long)
    await first.acquire()
    await first.release()
    assert (await record(real, namespace))["holderIdentity"] == ""
    async with asyncio.timeout(PATIENCE):
        await contender(real, namespace, "b").acquire()
    held = await record(real, namespace)
    assert (held["holderIdentity"], held["leaseTransitions"]) == ("b", 1)


async def test_a_lease_whose_holder_is_silent_is_taken(real: Kube, namespace: str) -> None:
    await contender(real, namespace, "a").acquire()
    async with asyncio.timeout(PATIENCE):
        await contender(real, namespace, "b").acquire()
    assert (await record(real, namespace))["holderIdentity"] == "b"


async def test_one_of_many_gets_it(real: Kube, namespace: str) -> None:
    all_of_them = [contender(real, namespace, name) for name in "abcde"]
    tasks = {asyncio.create_task(each.acquire()): each.identity for each in all_of_them}
    done, others = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    assert [tasks[task] for task in done] == [(await record(real, namespace))["holderIdentity"]]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


async def test_a_restarted_process_goes_on_with_its_own_lease(kube: Kube, namespace: str) -> None:
    long = Terms(duration=3600, renew_deadline=10, retry_period=0.1)
    await contender(kube, namespace, "a", terms=long).acquire()
    async with asyncio.timeout(PATIENCE):
        await contender(kube, namespace, "a", terms=long).acquire()
    assert (await record(kube, namespace))["leaseTransitions"] == 0


async def test_a_holder_stops_when_somebody_else_holds_it(kube: Kube, namespace: str) -> None:
    first = contender(kube, namespace, "a")
    await first.acquire()
    lease = await kube.get(LEASES, namespace, "one")
    await kube.replace(LEASES, {**lease, "spec": {**lease["spec"], "holderIdentity": "b"}})
    with pytest.raises(LeaseLostError, match="held by b"):
        async with asyncio.timeout(PATIENCE):
            await first.hold()
    await first.release()
    assert (await record(kube, namespace))["holderIdentity"] == "b"


class Hanging(FakeKube):
    """An API server whose answers stop coming."""

    silent = False

    async def get(self, *args: Any) -> dict[str, Any]:
        if self.silent:
            await asyncio.Event().wait()
        return await super().get(*args)


def hang(kube: Hanging) -> None:
    kube.silent = True


def fail(error: Exception) -> Callable[[Hanging], None]:
    def broken(kube: Hanging) -> None:
        kube.faults.append(Fault(verb="get", resource=LEASES, error=error, times=10**6))

    return broken


@pytest.mark.parametrize(
    "lose",
    [
        hang,
        fail(UnavailableError(0, "NoAnswer", "connection refused")),
        fail(ForbiddenError(403, "Forbidden", "no")),
        fail(RuntimeError("a defect of the client")),
    ],
    ids=["hangs", "down", "forbidden", "defect"],
)
async def test_a_holder_stops_before_the_lease_is_free(lose: Callable[[Hanging], None]) -> None:
    kube = Hanging()
    holder = contender(kube, "default", "a")
    await holder.acquire()
    lose(kube)
    loop = asyncio.get_running_loop()
    began = loop.time()
    with pytest.raises(LeaseLostError, match="could not be renewed"):
        await holder.hold()
    assert loop.time() - began < QUICK.duration


async def test_a_holder_survives_a_short_trouble() -> None:
    kube = FakeKube()
    holder = contender(kube, "default", "a")
    await holder.acquire()
    error = UnavailableError(503, "ServiceUnavailable", "restarting")
    kube.faults.append(Fault(verb="replace", resource=LEASES, error=error, times=2))
    async with background(holder.hold()) as holding:
        await until_renewed(kube, "default", times=3)
        assert not holding.done()
    assert kube.faults == []


async def test_a_lease_that_somebody_deleted_is_made_again(kube: Kube, namespace: str) -> None:
    holder = contender(kube, namespace, "a")
    await holder.acquire()
    lease = await kube.get(LEASES, namespace, "one")
    await kube.delete(LEASES, namespace, "one", uid=lease["metadata"]["uid"])
    async with background(holder.hold()):
        await eventually(lambda: kube.list(LEASES, namespace=namespace))
        assert (await record(kube, namespace))["holderIdentity"] == "a"


async def test_giving_back_does_not_wait_for_an_api_server_that_is_gone() -> None:
    kube = Hanging()
    holder = contender(kube, "default", "a")
    await holder.acquire()
    kube.silent = True
    async with asyncio.timeout(PATIENCE):
        await holder.release()
