"""One joiner: whether it is wanted, how it is made, what has become of it."""

from dataclasses import replace

from elasticep.api import names
from elasticep.api.reasons import Progress
from elasticep.plan import back_off, pods
from elasticep.plan.actions import CreatePod, DeletePod
from elasticep.plan.back_off import Failure
from elasticep.plan.crash_loop import diagnose
from elasticep.plan.decision import Decision, Reason
from elasticep.plan.leader import WAITING_POLL
from elasticep.plan.recovery import backing_off, delete, ended
from elasticep.plan.retired_ranks import is_retired
from elasticep.plan.view import View
from elasticep.world.engine import EngineState
from elasticep.world.pods import Pod


def wants(view: View, size: int) -> bool:
    """Whether this incarnation is to grow to ``size``; one of an older template never is."""
    return view.template_is_current and view.desired >= size


def trim(view: View, engine: EngineState) -> Decision | None:
    """No joiner is left that has not joined and is not wanted: a change of mind costs nothing."""
    awaited = engine.effective if wants(view, engine.effective + 1) else None
    doomed = surplus(view, engine, awaited=awaited)
    if not doomed:
        return None
    reason = Reason(word=Progress.REMOVING_SURPLUS_JOINER, message=doomed[0].why)
    return Decision(reason=reason, memory=view.memory, actions=doomed)


def surplus(view: View, engine: EngineState, *, awaited: int | None) -> tuple[DeletePod, ...]:
    """The end of the joiners that have not joined, but for the one at offset ``awaited``."""
    return tuple(
        delete(pod, why=f"joiner {pod.name} has not joined and is not wanted any more")
        for pod in view.joiners
        if pod.offset >= engine.effective
        and pod.offset != awaited
        and not is_retired(view, engine, pod)
    )


def without_crash_loop(view: View, waiting: Decision) -> Decision:
    """The wait for an engine that cannot be asked, without a joiner that crashes meanwhile.

    One that is not known to have joined would hold its GPUs through a crash loop for as long as
    the engine stays silent, and nobody would count it.
    """
    if waiting.actions:
        return waiting
    for joiner in failed_joiners(view):
        failure = standing_failure(joiner)
        if failure is not None:
            counted = back_off.count_once(view, failure)
            return replace(
                waiting,
                memory=replace(waiting.memory, failures=counted),
                actions=(delete(joiner, why=failure.message),),
            )
    return waiting


def give_up(view: View, failure: Failure, joiner: Pod | None) -> Decision:
    """Back off with this joiner gone; the group keeps serving at the size that it has."""
    view = view.remember(failures=back_off.count_once(view, failure))
    actions = (delete(joiner, why=failure.message),) if joiner else ()
    return replace(backing_off(view), actions=actions)


def create_joiner(view: View, offset: int) -> Decision:
    """The joiner at ``offset`` is made, once its predecessor has given up its GPUs."""
    if leaving := in_the_way(view, offset):
        message = f"waiting for joiner {leaving[0].name} to end"
        reason = Reason(word=Progress.WAITING_FOR_OLD_PODS, message=message)
        return Decision(reason=reason, memory=view.memory, look_again=WAITING_POLL)
    action = make_joiner(view, offset)
    reason = Reason(
        word=Progress.JOINER_STARTING,
        message=f"joiner pod {action.manifest['metadata']['name']} is made",
    )
    return Decision(reason=reason, memory=view.memory, actions=(action,), look_again=WAITING_POLL)


def make_joiner(view: View, offset: int) -> CreatePod:
    """The joiner pod that adds the ranks from ``offset`` on to the leader's present life."""
    leader, life = view.leader, view.life
    if leader is None or life is None:
        message = "a joiner is made for a living leader only"
        raise ValueError(message)
    manifest = pods.joiner_pod(
        view.blueprint,
        incarnation=leader.incarnation,
        serial=leader.serial,
        leader_life=life,
        leader_address=leader.ip,
        offset=offset,
        after=tuple(pod.uid for pod in view.terminating_at(offset)),
    )
    return CreatePod(manifest=manifest, why=f"ranks {offset} and up are missing")


def in_the_way(view: View, offset: int) -> tuple[Pod, ...]:
    """Earlier joiners of the same ranks that still hold their GPUs and their name."""
    return tuple(pod for pod in view.terminating_at(offset) if pod in view.leaving)


def joiner_failure(joiner: Pod) -> Failure | None:
    """Why a joiner will not join, if that is known."""
    if joiner.dead:
        return ended(joiner)
    crash = diagnose(joiner)
    return crash.failure if crash else None


def failed_joiners(view: View) -> tuple[Pod, ...]:
    """The joiners that have failed, stand still, and are not known to have joined."""
    return tuple(pod for pod in view.joiners if not view.has_joined(pod) and standing_failure(pod))


def standing_failure(joiner: Pod) -> Failure | None:
    """Why a joiner will not join, while an engine may be about to admit it.

    One that has failed and runs again may be a part of the group before its pod is deleted. If it
    fails again it is found when it does not run.
    """
    return joiner_failure(joiner) if joiner.dead or not engine_started(joiner) else None


def engine_started(pod: Pod) -> bool:
    """Whether a pod's engine runs, be it loading."""
    container = pod.container(names.CONTAINER)
    return container is not None and container.running
