"""One reconcile: observe, plan, put on record, apply, report."""

import logging
from dataclasses import dataclass, replace
from datetime import timedelta

from elasticep.apply.executor import Executor
from elasticep.apply.reporter import Reporter
from elasticep.observe.observer import Observer
from elasticep.plan.events import took_over
from elasticep.plan.planner import plan
from elasticep.world.key import Key

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Reconciler:
    """Takes one group one step towards its spec. Remembers nothing between two calls."""

    observer: Observer
    executor: Executor
    reporter: Reporter

    async def reconcile(self, key: Key) -> timedelta | None:
        """Look at the group and do the next safe step.

        Returns:
            When to look again without being woken; nothing when only a change matters.

        Raises:
            KubeError: the API server did not do its part; the caller tries again later.
        """
        observed = await self.observer.observe(key)
        if observed is None:
            return None
        snapshot = observed.snapshot
        planned = plan(snapshot)
        group = await self.reporter.report(snapshot.group, planned.status)
        for action in planned.actions:
            _LOG.info("%s: %s", type(action).__name__, action.why)
        refusals = await self.executor.carry_out(planned.actions, key=key, engines=observed.engines)
        # What was heard of the engines is of the one that gave way: the next look explains.
        if refusals and not took_over(snapshot.group.status, planned.status):
            planned = plan(replace(snapshot, group=group, refusals=refusals))
            await self.reporter.report(group, planned.status)
        return planned.look_again
