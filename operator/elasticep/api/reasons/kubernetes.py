"""Reasons in Kubernetes' own words, as the scheduler and the kubelet say them.

Sources: ``pkg/kubelet/images/types.go``, ``pkg/kubelet/container/sync_result.go``,
``pkg/kubelet/lifecycle/predicate.go``, ``pkg/kubelet/eviction`` and ``pkg/kubelet/nodeshutdown``
of Kubernetes 1.36.
"""

from enum import unique

from elasticep.api.reasons.word import Outlook, ReasonWord

_CORRECT_IMAGE = (
    "Correct engine.image (or the image of that container in spec.template), or name a pull "
    "secret in spec.template.spec.imagePullSecrets."
)
_REPLACED = "Nothing: the pod is replaced by itself."


@unique
class Scheduler(ReasonWord):
    """Why a pod has no node."""

    UNSCHEDULABLE = (
        "Unschedulable",
        Outlook.NEEDS_HUMAN,
        "No node fits the pod; the message says, in the scheduler's words, what each one lacks.",
        "Free or add what is short (GPUs, RDMA devices), or correct rdma.resource and the node "
        "selector and tolerations in spec.template.",
    )
    SCHEDULING_GATED = (
        "SchedulingGated",
        Outlook.NEEDS_HUMAN,
        "A scheduling gate holds the pod back, as queueing systems do.",
        "Ask whoever set the gate: kubectl get the pod and look at spec.schedulingGates.",
    )


@unique
class Kubelet(ReasonWord):
    """Why a container does not start."""

    ERR_IMAGE_PULL = (
        "ErrImagePull",
        Outlook.NEEDS_HUMAN,
        "The node could not pull the image.",
        _CORRECT_IMAGE,
    )
    IMAGE_PULL_BACK_OFF = (
        "ImagePullBackOff",
        Outlook.NEEDS_HUMAN,
        "The node could not pull the image several times, and waits before it tries again.",
        _CORRECT_IMAGE,
    )
    INVALID_IMAGE_NAME = (
        "InvalidImageName",
        Outlook.NEEDS_HUMAN,
        "The image's name is not one.",
        _CORRECT_IMAGE,
    )
    ERR_IMAGE_NEVER_PULL = (
        "ErrImageNeverPull",
        Outlook.NEEDS_HUMAN,
        "The image is not on the node, and its pull policy is Never.",
        "Put the image on the node, or set imagePullPolicy in spec.template.",
    )
    IMAGE_INSPECT_ERROR = (
        "ImageInspectError",
        Outlook.NEEDS_HUMAN,
        "The node's container runtime cannot read the image.",
        "Look at the container runtime's log on that node, or use another node.",
    )
    REGISTRY_UNAVAILABLE = (
        "RegistryUnavailable",
        Outlook.NEEDS_HUMAN,
        "The image's registry does not answer.",
        "Wait until the registry is back, or correct engine.image.",
    )
    CREATE_CONTAINER_CONFIG_ERROR = (
        "CreateContainerConfigError",
        Outlook.NEEDS_HUMAN,
        "Something that the container's environment comes from is not there.",
        "Create the Secret or ConfigMap (and the key in it) that the message names, or correct "
        "the reference in engine.adminKeySecretRef or spec.template.",
    )
    CREATE_CONTAINER_ERROR = (
        "CreateContainerError",
        Outlook.NEEDS_HUMAN,
        "The node's container runtime could not make the container.",
        "Correct what the message names; volumes and devices in spec.template are usual causes.",
    )
    RUN_CONTAINER_ERROR = (
        "RunContainerError",
        Outlook.NEEDS_HUMAN,
        "The node's container runtime could not start the container.",
        "Check that engine.command exists in engine.image, and the node's GPU runtime.",
    )
    START_ERROR = (
        "StartError",
        Outlook.NEEDS_HUMAN,
        "The container's command could not be started.",
        "Check that engine.command exists in engine.image, and the node's GPU runtime.",
    )
    POST_START_HOOK_ERROR = (
        "PostStartHookError",
        Outlook.NEEDS_HUMAN,
        "The container's postStart hook failed.",
        "Correct the hook in spec.template.",
    )
    OOM_KILLED = (
        "OOMKilled",
        Outlook.NEEDS_HUMAN,
        "The container passed its memory limit (main memory, not GPU memory).",
        "Raise the engine container's memory limit in spec.template, or let the engine keep less "
        "in memory.",
    )


@unique
class Node(ReasonWord):
    """Why a node gave up a pod, or did not take it."""

    EVICTED = (
        "Evicted",
        Outlook.PASSING,
        "The node was short of memory, disk or process ids, and ended the pod.",
        f"{_REPLACED} Give the pod requests in spec.template that cover what it uses.",
    )
    PREEMPTING = (
        "Preempting",
        Outlook.PASSING,
        "The node ended the pod to make room for a critical one.",
        f"{_REPLACED} A priorityClassName in spec.template protects it.",
    )
    PREEMPTED = (
        "Preempted",
        Outlook.PASSING,
        "The scheduler ended the pod to make room for one of higher priority.",
        f"{_REPLACED} A priorityClassName in spec.template protects it.",
    )
    LOST = (
        "NodeLost",
        Outlook.PASSING,
        "The pod's node does not report any more.",
        f"{_REPLACED} Look at the node.",
    )
    TERMINATED = (
        "Terminated",
        Outlook.PASSING,
        "The pod's node was shut down.",
        _REPLACED,
    )
    SHUTDOWN = (
        "NodeShutdown",
        Outlook.PASSING,
        "The node is shutting down and did not take the pod.",
        _REPLACED,
    )
    AFFINITY = (
        "NodeAffinity",
        Outlook.PASSING,
        "The node's labels changed, and it did not take the pod.",
        _REPLACED,
    )
    UNEXPECTED_ADMISSION_ERROR = (
        "UnexpectedAdmissionError",
        Outlook.PASSING,
        "The node could not give the pod the devices that the scheduler had counted on.",
        f"{_REPLACED} If it happens again, look at the GPU and RDMA device plugins on that node.",
    )
    TOPOLOGY_AFFINITY_ERROR = (
        "TopologyAffinityError",
        Outlook.PASSING,
        "The node could not give the pod GPUs and RDMA devices that are close to each other.",
        f"{_REPLACED} If it happens again, look at the node's topology manager policy.",
    )
    OUT_OF_RESOURCES = (
        "NodeOutOfResources",
        Outlook.PASSING,
        "The node had less left than the scheduler had counted on, and did not take the pod.",
        _REPLACED,
    )
