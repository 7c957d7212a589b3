"""Prometheus' view of the process and of its groups.

The names follow controller-runtime's, so that existing dashboards read. No series per pod; series
per group only where an alert needs one, and they end with the group.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
)

from elasticep.run.queue import WorkQueue
from elasticep.world.key import Key

_WORK_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_SCALE_BUCKETS = (5, 10, 20, 30, 60, 120, 240, 480, 900, 1800, 3600)


@dataclass(kw_only=True)
class Metrics:
    """Every metric of the operator."""

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)

    def __post_init__(self) -> None:
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self._reconciles = self._counter("reconcile", "Reconciles by result.", "result")
        self._reconcile_seconds = self._seconds("reconcile_time", "Length of one reconcile.")
        self._adds = self._counter("workqueue_adds", "Keys that became due.")
        self._retries = self._counter("workqueue_retries", "Keys put back after a failure.")
        self._queue_seconds = self._seconds(
            "workqueue_queue_duration", "Time between a key being due and its reconcile."
        )
        self._work_seconds = self._seconds(
            "workqueue_work_duration", "Time a worker spends on one key."
        )
        self.leader = self._gauge("leader", "1 while this process holds the Lease.")
        self.event_loop_lag = self._gauge(
            "event_loop_lag_seconds", "How late the event loop ran a timer of one second."
        )
        self._api_requests = self._counter(
            "api_requests", "Requests to the API server.", "verb", "resource", "code"
        )
        self._nudges = self._counter(
            "nudges", "One-token requests that keep an idle leader moving during a scale."
        )
        self._pods = self._counter("pods_created", "Pods made, by role.", "role")
        self._ready = self._gauge("ready", "The group's Ready condition.", "namespace", "name")
        self._ep_size = self._gauge(
            "effective_ep_size", "Ranks that serve now.", "namespace", "name"
        )
        self._scales = Histogram(
            "elasticep_scale_seconds",
            "Length of one change of a group's EP size.",
            ("direction", "outcome"),
            buckets=_SCALE_BUCKETS,
            registry=self.registry,
        )

        self._moves = Histogram(
            "elasticep_move_seconds",
            "Time from the start of a second incarnation until it takes over, or is dropped.",
            ("kind", "outcome"),
            buckets=_SCALE_BUCKETS,
            registry=self.registry,
        )
        self._failures = self._counter(
            "failures", "Crash loops, lost ranks and refusals put on record, by reason.", "reason"
        )

    def key_added(self) -> None:
        """A key became due."""
        self._adds.inc()

    def work_started(self, *, waited: float) -> None:
        """A reconcile began, so many seconds after its key was due."""
        self._queue_seconds.observe(waited)

    def work_ended(self, *, seconds: float, result: str) -> None:
        """A reconcile ended as ``success``, ``requeue_after`` or ``error``."""
        self._reconciles.labels(result).inc()
        self._reconcile_seconds.observe(seconds)
        self._work_seconds.observe(seconds)
        if result == "error":
            self._retries.inc()

    def watch_queue(self, queue: WorkQueue[Key], *, clock: Callable[[], float]) -> None:
        """Ask the queue itself whenever somebody scrapes."""
        live: dict[tuple[str, str], Callable[[], float]] = {
            ("active_workers", "Reconciles in progress."): lambda: queue.active,
            ("workqueue_depth", "Keys that are due."): lambda: queue.depth,
            (
                "workqueue_unfinished_work_seconds",
                "Time spent so far on reconciles in progress, summed.",
            ): lambda: queue.unfinished_seconds(now=clock()),
            (
                "workqueue_longest_running_processor_seconds",
                "Age of the oldest reconcile in progress.",
            ): lambda: queue.longest_running_seconds(now=clock()),
        }
        for (name, text), read in live.items():
            self._gauge(name, text).set_function(read)

    def request_answered(self, *, verb: str, resource: str, code: int) -> None:
        """The API server answered; code 0 when it did not."""
        self._api_requests.labels(verb, resource, str(code)).inc()

    def nudged(self) -> None:
        """A leader was sent a request so that its scale moves on."""
        self._nudges.inc()

    def pod_created(self, role: str) -> None:
        """A pod was made."""
        self._pods.labels(role).inc()

    def group_is(self, key: Key, *, ready: bool, ep_size: int | None) -> None:
        """What the group's status says; an unknown size is no number, and never an old one."""
        self._ready.labels(key.namespace, key.name).set(ready)
        self._ep_size.labels(key.namespace, key.name).set(math.nan if ep_size is None else ep_size)

    def group_gone(self, key: Key) -> None:
        """The group's series end with it."""
        for gauge in (self._ready, self._ep_size):
            gauge.remove(key.namespace, key.name)

    def scale_ended(self, *, direction: str, outcome: str, seconds: float) -> None:
        """A change of an EP size, ``up`` or ``down``, ended in ``success`` or ``failure``."""
        self._scales.labels(direction, outcome).observe(seconds)

    def move_ended(self, *, kind: str, outcome: str, seconds: float) -> None:
        """A successor took over (``success``) or was dropped (``dropped``)."""
        self._moves.labels(kind, outcome).observe(seconds)

    def failed(self, reason: str) -> None:
        """A group has a further failure on record."""
        self._failures.labels(reason).inc()

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"elasticep_{name}_total", text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"elasticep_{name}", text, labels, registry=self.registry)

    def _seconds(self, name: str, text: str) -> Histogram:
        return Histogram(
            f"elasticep_{name}_seconds", text, buckets=_WORK_BUCKETS, registry=self.registry
        )
