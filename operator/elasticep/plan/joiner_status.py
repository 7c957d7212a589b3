"""How far each joiner has come."""

from elasticep.api import names
from elasticep.api.models import JoinerState, JoinerStatus
from elasticep.plan.view import View
from elasticep.world.pods import Pod


def joiner_statuses(view: View) -> tuple[JoinerStatus, ...]:
    """The joiners of the leader's present life, in rank order."""
    before = {joiner.uid: joiner for joiner in view.memory.joiners}
    effective = view.engine.effective if view.engine else None
    return tuple(_joiner(view, pod, effective, before.get(pod.uid)) for pod in view.joiners)


def _joiner(
    view: View, pod: Pod, effective: int | None, before: JoinerStatus | None
) -> JoinerStatus:
    """What is known of a joiner; its restarts are those before it joined: later ones are a loss."""
    joined = before is not None and before.state is JoinerState.JOINED
    return JoinerStatus(
        pod=pod.name,
        uid=pod.uid,
        offset=pod.offset,
        ranks=before.ranks if before else view.spec.joiner.ranks,
        state=_joiner_state(pod, effective, before),
        restarts=before.restarts if before is not None and joined else pod.restarts,
    )


def _joiner_state(pod: Pod, effective: int | None, before: JoinerStatus | None) -> JoinerState:
    if effective is None:
        return before.state if before else JoinerState.PENDING
    if pod.offset < effective:
        return JoinerState.JOINED
    if before is not None and before.state in {JoinerState.JOINED, JoinerState.RETIRED}:
        return JoinerState.RETIRED
    container = pod.container(names.CONTAINER)
    return JoinerState.LOADING if container and container.running else JoinerState.PENDING
