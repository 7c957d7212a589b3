"""What a container said before it ended, when its termination message does not tell.

SGLang's parent process kills itself after a scheduler has died, and as PID 1 it then ends with
exit code 0: the kubelet copies the log into the termination message for other codes only.
"""

from dataclasses import replace

from elasticep.engine.crash_signatures import classify_text
from elasticep.kube.port import Kube, KubeError
from elasticep.world.pods import Container, Exit, Pod


def without_secret(pod: Pod, secret: str) -> Pod:
    """The pod with every mention of a secret masked: the engine logs all of its arguments."""
    return replace(
        pod,
        containers=tuple(
            replace(
                container,
                exit=_masked(container.exit, secret),
                last_exit=_masked(container.last_exit, secret),
            )
            for container in pod.containers
        ),
    )


def _masked(ended: Exit | None, secret: str) -> Exit | None:
    if ended is None or secret not in ended.message:
        return ended
    return replace(ended, message=ended.message.replace(secret, "***"))


async def with_last_words(kube: Kube, namespace: str, pod: Pod) -> Pod:
    """The pod with the end of the log in place of every message that explains nothing."""
    if pod.terminating or all(_explained(container) for container in pod.containers):
        return pod
    containers = [
        container
        if _explained(container)
        else await _with_log(kube, namespace, pod.name, container)
        for container in pod.containers
    ]
    return replace(pod, containers=tuple(containers))


def _explained(container: Container) -> bool:
    ended = container.exit or container.last_exit
    if ended is None or container.ready or (container.init and ended.code == 0):
        return True
    return classify_text(ended.message) is not None


async def _with_log(kube: Kube, namespace: str, pod: str, container: Container) -> Container:
    previous = container.exit is None
    try:
        tail = await kube.log_tail(namespace, pod, container.name, previous=previous)
    except KubeError:
        # The kubelet is gone or has already cleaned up: the message is all there is.
        return container
    ended = container.exit or container.last_exit
    if ended is None or not tail.strip():
        return container
    told = replace(ended, message=tail)
    return replace(container, last_exit=told) if previous else replace(container, exit=told)
