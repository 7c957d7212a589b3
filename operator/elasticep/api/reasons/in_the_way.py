"""Reasons why a group does not get on: refusals, an engine that cannot be asked, and losses."""

from enum import unique

from elasticep.api.reasons.word import Outlook, ReasonWord

_BY_ITSELF = "Nothing: the group starts again by itself, unless that has failed too often."


@unique
class Blocked(ReasonWord):
    """The spec, the namespace or the API server stands in the way."""

    SPEC_INVALID = (
        "SpecInvalid",
        Outlook.NEEDS_HUMAN,
        "The object was stored before a rule that it breaks.",
        "Correct the field that the message names.",
    )
    NAME_CONFLICT = (
        "NameConflict",
        Outlook.NEEDS_HUMAN,
        "An object of a name that the group needs belongs to somebody else: a pod, or one of those "
        "that stand around the pods.",
        "Delete or rename it, or give the group another name.",
    )
    SCALE_DOWN_DISABLED = (
        "ScaleDownDisabled",
        Outlook.NEEDS_HUMAN,
        "The spec asks for fewer ranks, and its scaleDown keeps the group from giving any back.",
        "Set scaleDown.strategy to Surge or Restart, or replicas back to what serves.",
    )
    INSUFFICIENT_CAPACITY = (
        "InsufficientCapacity",
        Outlook.NEEDS_HUMAN,
        "There is no room for a second incarnation beside the one that serves, which serves on.",
        "Free or add what is short; or let scaleDown, rollout or recovery use strategy Restart, "
        "which ends the old one first: nothing serves meanwhile.",
    )
    TEMPLATE_REJECTED = (
        "TemplateRejected",
        Outlook.NEEDS_HUMAN,
        "The API server refuses a pod, or an object around the pods, as it is made from the spec.",
        "Correct spec.template, or the field that the message names.",
    )
    QUOTA_EXCEEDED = (
        "QuotaExceeded",
        Outlook.NEEDS_HUMAN,
        "The namespace's quota does not allow another pod of the group.",
        "Raise the ResourceQuota that the message names, end something else in the namespace, or "
        "lower spec.replicas.",
    )
    POD_SECURITY_VIOLATION = (
        "PodSecurityViolation",
        Outlook.NEEDS_HUMAN,
        "The namespace's Pod Security level forbids what RDMA needs.",
        "Label the namespace pod-security.kubernetes.io/enforce=privileged, or use another one.",
    )
    NAMESPACE_TERMINATING = (
        "NamespaceTerminating",
        Outlook.NEEDS_HUMAN,
        "The namespace is being deleted, so nothing can be made in it.",
        "Nothing, or make the group in another namespace.",
    )
    FORBIDDEN = (
        "Forbidden",
        Outlook.NEEDS_HUMAN,
        "The API server does not allow the operator to make what the group needs.",
        "Compare the operator's role with the one of its manifests, and look for admission "
        "policies.",
    )


@unique
class Engine(ReasonWord):
    """The engine cannot be asked, or will not do it."""

    UNREACHABLE = (
        "EngineUnreachable",
        Outlook.NEEDS_HUMAN,
        "The leader's pod is Ready and its engine gives no answer that can be understood.",
        "Look at the leader pod's log, and at network policies between the operator and the pod.",
    )
    UNAUTHORIZED = (
        "EngineUnauthorized",
        Outlook.NEEDS_HUMAN,
        "The admin key in the group's Secret is not the one that the engine was started with.",
        "Put the old key back, or delete the leader pod to start again with the new one; requests "
        "in flight are lost.",
    )
    ADMIN_KEY_MISSING = (
        "AdminKeyMissing",
        Outlook.NEEDS_HUMAN,
        "The Secret of the admin key, or its key, is not there.",
        "Create it, or correct engine.adminKeySecretRef.",
    )
    NOT_ELASTIC = (
        "NotElastic",
        Outlook.NEEDS_HUMAN,
        "What listens on the leader's port does not know the routes of an elastic engine.",
        "Check engine.command and engine.port, and that engine.image is SGLang 0.5.19 or later.",
    )
    SCALE_REJECTED = (
        "ScaleRejected",
        Outlook.NEEDS_HUMAN,
        "The engine refuses the EP size that it was asked for, in the words of the message.",
        "Check engine.command and engine.args, and that maxEPSize is what the leader was started "
        "with.",
    )


@unique
class Loss(ReasonWord):
    """A pod, ranks or a growth has failed, for a reason that the engine's words do not tell."""

    LEADER_LOST = "LeaderLost", Outlook.PASSING, "The leader pod is gone.", _BY_ITSELF
    LEADER_START_OVERDUE = (
        "LeaderStartOverdue",
        Outlook.PASSING,
        "The leader's engine did not begin to serve in time.",
        "Look at the leader pod's log; raise engine.startTimeoutSeconds if it was still loading "
        "the model.",
    )
    LEADER_SILENT = (
        "LeaderSilent",
        Outlook.PASSING,
        "The leader's engine has served, and has not been Ready for too long since.",
        f"{_BY_ITSELF} Look at the leader pod's log, and at the GPUs of its node.",
    )
    RANK_LOST = (
        "RankLost",
        Outlook.PASSING,
        "Ranks that had joined are gone, and an engine that has grown cannot take them back.",
        _BY_ITSELF,
    )
    OPERATION_OVERDUE = (
        "OperationOverdue",
        Outlook.PASSING,
        "The engine did not end a change of its size in time, and cannot cancel it.",
        "A leader that is Ready is kept and goes on serving; if the change does not end, delete "
        "its pod to start the group again. One that is not Ready is started again by itself. Raise "
        "engine.scaleTimeoutSeconds if loading the model takes longer.",
    )
    PROGRESS_DEADLINE_EXCEEDED = (
        "ProgressDeadlineExceeded",
        Outlook.PASSING,
        "The incarnation that is to take over did not come to serve in time.",
        "Look at what its pods wait for; raise rollout.progressDeadlineSeconds if it was still "
        "loading the model.",
    )
    SCALE_UP_FAILED = (
        "ScaleUpFailed",
        Outlook.PASSING,
        "The engine gave up a growth, and serves on at its EP size.",
        "Look at the logs of the leader and the joiner; it is tried again by itself.",
    )
    POD_FAILED = (
        "PodFailed",
        Outlook.PASSING,
        "A pod ended for good, and nobody said why.",
        "Look at the events of its node; it is replaced by itself.",
    )
    LEADER_CRASH_LOOP = (
        "LeaderCrashLoop",
        Outlook.PASSING,
        "A container of the leader pod has exited and waits to be started again.",
        "Read its last words: kubectl logs --previous.",
    )
    JOINER_CRASH_LOOP = (
        "JoinerCrashLoop",
        Outlook.PASSING,
        "A container of a joiner pod has exited and waits to be started again.",
        "Read its last words: kubectl logs --previous.",
    )
    ENGINE_CRASHED = (
        "EngineCrashed",
        Outlook.NEEDS_HUMAN,
        "The engine keeps exiting for a reason that is not known here.",
        "Read the end of its log in status.failures.excerpt.",
    )
    SIDECAR_CRASHED = (
        "SidecarCrashed",
        Outlook.NEEDS_HUMAN,
        "A container beside the engine keeps exiting.",
        "Read the end of its log in status.failures.excerpt, and correct it in spec.template.",
    )
    INIT_CONTAINER_FAILED = (
        "InitContainerFailed",
        Outlook.NEEDS_HUMAN,
        "An init container keeps exiting, so the engine is never started.",
        "Read the end of its log in status.failures.excerpt, and correct it in spec.template.",
    )
    CONTAINER_KILLED = (
        "ContainerKilled",
        Outlook.NEEDS_HUMAN,
        "A container keeps being ended by a signal from outside.",
        "Look for a probe, a node or a person that ended it: kubectl describe the pod.",
    )
