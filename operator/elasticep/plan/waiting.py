"""Why a pod's engine is not running yet. Waiting is never a crash."""

from elasticep.api import names
from elasticep.api.reasons import Loss, Progress, Scheduler, word
from elasticep.plan.crash_loop import last_line
from elasticep.plan.decision import Reason
from elasticep.world.pods import Container, Exit, Pod


def why_waiting(pod: Pod) -> Reason:
    """What a pod waits for, in the words of whoever holds it back."""
    title = f"{pod.role} pod {pod.name}"
    if pod.unschedulable:
        return Reason(word=Scheduler.UNSCHEDULABLE, message=f"{title}: {pod.unschedulable}")
    if pod.gated:
        return Reason(
            word=Scheduler.SCHEDULING_GATED, message=f"{title} is held by a scheduling gate"
        )
    if not pod.node:
        return Reason(word=Progress.POD_PENDING, message=f"{title} waits to be scheduled")
    blocked = next((c for c in pod.containers if c.waiting_reason and not c.running), None)
    if blocked is None:
        return Reason(word=Progress.CONTAINERS_STARTING, message=f"{title} starts on {pod.node}")
    return _why_container_waits(pod, blocked, title)


def _why_container_waits(pod: Pod, container: Container, title: str) -> Reason:
    where = f"container {container.name} of {title}"
    words = container.waiting_message or container.waiting_reason
    match container.waiting_reason:
        case "ContainerCreating" | "PodInitializing":
            return Reason(
                word=Progress.CONTAINERS_STARTING, message=f"{title} starts on {pod.node}"
            )
        case "CrashLoopBackOff":
            loop = Loss.LEADER_CRASH_LOOP if pod.role == names.LEADER else Loss.JOINER_CRASH_LOOP
            return Reason(word=loop, message=f"{where} has exited{_how(container.last_exit)}")
        case reason:
            return Reason(word=word(reason), message=f"{where} cannot start: {words}")


def _how(last: Exit | None) -> str:
    if last is None:
        return ""
    return f", last with code {last.code}: {last_line(last) or 'it left no message'}"
