"""kopf as a doorbell: an event of a group, or of one of its pods, becomes the group's key.

Nothing else is registered, for a reason each:

- handlers of creation, update and resumption write an annotation on every object;
- handlers of deletion, timers and daemons put a finalizer on it, and a group could then not be
  deleted while the operator is down;
- an index keeps objects whose deletion the watch has missed.

kopf says only that something happened, never what is there: a reconcile reads that itself.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any

import kopf

from elasticep.api import names
from elasticep.kube.port import GROUPS, PODS
from elasticep.run.groups import GroupBook, key_of
from elasticep.world.key import Key

_LOG = logging.getLogger(__name__)

_END_SECONDS = 8.0
"""kopf waits up to 5 s for tasks that are not its own, such as an open connection's."""

Login = Callable[..., Any]

POD_SELECTOR = f"{names.LABEL_MANAGED_BY}={names.MANAGED_BY},{names.LABEL_GROUP}"


def handlers(
    *, ring: Callable[[Key], None], book: GroupBook, login: Login = kopf.login_via_client
) -> kopf.OperatorRegistry:
    """Handlers that ring for the group of whatever changed."""
    registry = kopf.OperatorRegistry()
    kopf.on.login(registry=registry, id="login")(login)

    async def group_changed(event: kopf.RawEvent, **_: Any) -> None:
        group = event["object"]
        key = key_of(group)
        if event["type"] == "DELETED":
            book.lost(key)
        else:
            book.saw(group)
        ring(key)

    async def pod_changed(event: kopf.RawEvent, **_: Any) -> None:
        metadata = event["object"]["metadata"]
        ring(Key(namespace=metadata["namespace"], name=metadata["labels"][names.LABEL_GROUP]))

    kopf.on.event(GROUPS.group, GROUPS.version, GROUPS.plural, registry=registry, id="group")(
        group_changed
    )
    kopf.on.event(PODS.group, PODS.version, PODS.plural, registry=registry, id="pod")(pod_changed)
    return registry


def kopf_settings() -> kopf.OperatorSettings:
    """The settings of kopf for handlers that only ring, at a thousand groups."""
    settings = kopf.OperatorSettings()
    settings.watching.label_selectors[PODS.group, PODS.version, PODS.plural] = POD_SELECTOR
    settings.watching.chunk_size = 500
    # A load balancer may drop a connection without a word. kopf notices after its inactivity
    # timeout; the others are there in case bookmarks are not sent.
    settings.watching.inactivity_timeout = 70
    settings.watching.server_timeout = 300
    settings.watching.client_timeout = 310
    settings.watching.connect_timeout = 30
    settings.watching.reconnect_backoff = 1.0
    # Never a worker_limit here: each worker keeps its place while its object is silent.
    settings.queueing.idle_timeout = 1.0
    settings.queueing.error_delays = (1, 2, 5, 10, 30)
    settings.networking.request_timeout = 30
    settings.networking.connect_timeout = 10
    # Missing permissions are retried like any trouble, and should be told of soon.
    settings.networking.error_backoffs = (1, 2, 5, 10)
    settings.networking.enforce_retry_after = True
    settings.posting.enabled = False
    # We look for the CRD ourselves, so kopf need not watch CRDs and namespaces.
    settings.scanning.disabled = True
    settings.persistence.diffbase_storage = _NoMemory()
    settings.process.ultimate_exiting_timeout = 25
    settings.execution.max_workers = 1
    return settings


@asynccontextmanager
async def watching(
    *, handlers: kopf.OperatorRegistry, namespaces: Sequence[str]
) -> AsyncIterator[Collection[asyncio.Task[None]]]:
    """The watches are on; the tasks that keep them so, which should never end, are the value.

    Raises whatever made one of them end.
    """
    older = asyncio.all_tasks()
    stop = asyncio.Event()
    tasks = await kopf.spawn_tasks(
        registry=handlers,
        settings=kopf_settings(),
        # Otherwise kopf looks its user up, and a container's numeric user has no name. The type
        # is a NewType of str that kopf does not export.
        identity="elasticep",  # type: ignore[arg-type]
        standalone=True,
        clusterwide=not namespaces,
        namespaces=namespaces,
        stop_flag=stop,
    )
    try:
        yield tasks
    finally:
        stop.set()
        try:
            async with asyncio.timeout(_END_SECONDS):
                await kopf.run_tasks(tasks, ignored=older)
        except TimeoutError:
            _LOG.warning("the watches did not end in %g s and are left behind", _END_SECONDS)


class _NoMemory(kopf.DiffBaseStorage):
    """Keeps nothing to compare an object with.

    kopf makes a deep copy of every object for this even when nobody asks for a difference: half
    of the CPU time at start-up.
    """

    def build(self, **_: Any) -> kopf.BodyEssence:
        """Nothing."""
        return kopf.BodyEssence()

    def fetch(self, **_: Any) -> kopf.BodyEssence | None:
        """Nothing."""
        return None

    def store(self, **_: Any) -> None:
        """Nothing is written to the object."""
