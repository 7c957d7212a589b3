"""Joiners whose ranks a running engine has given back, and when their pods may go."""

from datetime import timedelta

from elasticep.api.models import JoinerState
from elasticep.api.reasons import Progress
from elasticep.plan.decision import Decision, Reason
from elasticep.plan.recovery import delete
from elasticep.plan.view import View
from elasticep.world.engine import EngineState
from elasticep.world.pods import Pod

_SAFETY_POLL = timedelta(seconds=1)


def release(view: View, engine: EngineState) -> Decision | None:
    """The end of the joiners whose ranks the engine has given back, each once that is safe.

    An engine that does not say which ranks are safe leaves every pod where it is: deleting one
    whose ranks are still in use is a fault, not a scale-down.
    """
    retired = [pod for pod in view.joiners if is_retired(view, engine, pod)]
    if not retired:
        return None
    safe = engine.safe_to_terminate or frozenset()
    free = [pod for pod in retired if safe.issuperset(_ranks(view, pod))]
    names = ", ".join(pod.name for pod in retired)
    reason = Reason(
        word=Progress.RELEASING_RANKS,
        message=f"the engine has given back the ranks of {names}"
        + ("" if free else " and does not say yet that they may end"),
    )
    return Decision(
        reason=reason,
        memory=view.memory,
        actions=tuple(delete(pod, why=reason.message) for pod in free),
        look_again=_SAFETY_POLL,
    )


def is_retired(view: View, engine: EngineState, joiner: Pod) -> bool:
    """Whether a joiner had joined, and the engine serves without its ranks now."""
    known = view.record_of(joiner)
    had_joined = known is not None and known.state in {JoinerState.JOINED, JoinerState.RETIRED}
    return had_joined and joiner.offset >= engine.effective


def _ranks(view: View, joiner: Pod) -> range:
    known = view.record_of(joiner)
    count = known.ranks if known is not None else view.spec.joiner.ranks
    return range(joiner.offset, joiner.offset + count)
