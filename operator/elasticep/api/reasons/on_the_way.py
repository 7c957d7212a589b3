"""Reasons that ask nothing of anybody: all is well, or the operator is at work."""

from enum import unique

from elasticep.api.reasons.word import Outlook, ReasonWord

_NOTHING = "Nothing."


@unique
class Settled(ReasonWord):
    """Nothing is in progress, or a condition is False and that is good."""

    ALL_RANKS_SERVING = (
        "AllRanksServing",
        Outlook.GOOD,
        "The group serves with the EP size that the spec asks for.",
        _NOTHING,
    )
    SERVING = "Serving", Outlook.GOOD, "A leader serves, at whatever EP size.", _NOTHING
    STOPPED = (
        "Stopped",
        Outlook.GOOD,
        "spec.replicas is 0, and the group has no pods.",
        "Set spec.replicas to 1 or more to start it.",
    )
    PAUSED = (
        "Paused",
        Outlook.GOOD,
        "spec.paused is true, so the operator leaves everything as it is.",
        "Set spec.paused to false to let it go on.",
    )
    NOTHING_TO_DO = "NothingToDo", Outlook.GOOD, "No change is in progress.", _NOTHING
    NOT_STALLED = "NotStalled", Outlook.GOOD, "The operator has not given up.", _NOTHING
    NOT_SCALING_UP = "NotScalingUp", Outlook.GOOD, "No ranks are being added.", _NOTHING
    NOT_SCALING_DOWN = "NotScalingDown", Outlook.GOOD, "No ranks are being removed.", _NOTHING
    SIZE_REACHABLE = (
        "SizeReachable",
        Outlook.GOOD,
        "Nothing is known to keep the wanted EP size away.",
        _NOTHING,
    )


@unique
class Progress(ReasonWord):
    """The operator, the kubelet or the engine is at work."""

    LEADER_STARTING = "LeaderStarting", Outlook.PASSING, "The leader pod starts.", _NOTHING
    LEADER_LOADING = (
        "LeaderLoading",
        Outlook.PASSING,
        "The leader's engine runs and does not answer yet: it loads the model.",
        "Wait; if it takes too long, look at the leader pod's log. "
        "engine.startTimeoutSeconds says how long it may take.",
    )
    LEADER_NOT_ANSWERING = (
        "LeaderNotAnswering",
        Outlook.PASSING,
        "The leader's engine has served, and neither answers nor is Ready any more.",
        "Look at the leader pod's log and at its node: the pods of a lost node go after some "
        "minutes, and the group then starts again by itself. engine.startTimeoutSeconds says how "
        "long an engine may be silent.",
    )
    LEADER_NOT_READY = (
        "LeaderNotReady",
        Outlook.PASSING,
        "The leader's engine answers, and the kubelet has not called its pod Ready yet.",
        _NOTHING,
    )
    JOINER_STARTING = "JoinerStarting", Outlook.PASSING, "A joiner pod is made.", _NOTHING
    SCALING_UP = "ScalingUp", Outlook.PASSING, "The engine is adding a joiner's ranks.", _NOTHING
    SCALING_DOWN = "ScalingDown", Outlook.PASSING, "The engine is giving ranks back.", _NOTHING
    STABILIZING = (
        "Stabilizing",
        Outlook.PASSING,
        "Fewer ranks are asked for, and have not been for long enough to act on it.",
        "Nothing; scaleDown.stabilizationSeconds says how long it takes.",
    )
    RELEASING_RANKS = (
        "ReleasingRanks",
        Outlook.PASSING,
        "The engine has given ranks back, and their pods end once it says that they may.",
        _NOTHING,
    )
    DRAINING_INCARNATION = (
        "DrainingIncarnation",
        Outlook.PASSING,
        "An incarnation that gets no new requests finishes those it has, and ends.",
        "Nothing; scaleDown.drainSeconds says how long it may take.",
    )
    SUCCESSOR_DROPPED = (
        "SuccessorDropped",
        Outlook.PASSING,
        "The incarnation that was to take over is not wanted any more, and ends.",
        _NOTHING,
    )
    POD_PENDING = "PodPending", Outlook.PASSING, "A pod waits for the scheduler.", _NOTHING
    CONTAINERS_STARTING = (
        "ContainersStarting",
        Outlook.PASSING,
        "A pod has a node, which pulls its images, mounts its volumes and starts its containers.",
        "Wait; if it takes too long, kubectl describe the pod: a volume that cannot be mounted "
        "is told in its events only.",
    )
    REPLACING_STALE_PODS = (
        "ReplacingStalePods",
        Outlook.PASSING,
        "Pods of an earlier life of the engine, or of an older spec, are removed.",
        _NOTHING,
    )
    WAITING_FOR_OLD_PODS = (
        "WaitingForOldPods",
        Outlook.PASSING,
        "Pods of an earlier life of the engine are about to end, and hold their GPUs until then.",
        _NOTHING,
    )
    WAITING_FOR_OLD_OBJECTS = (
        "WaitingForOldObjects",
        Outlook.PASSING,
        "A Service or Secret of a deleted group of the same name is about to be deleted.",
        _NOTHING,
    )
    REMOVING_SURPLUS_JOINER = (
        "RemovingSurplusJoiner",
        Outlook.PASSING,
        "A joiner that has not joined is not wanted any more, and is removed.",
        _NOTHING,
    )
    OPERATION_DROPPED = (
        "OperationDropped",
        Outlook.PASSING,
        "A change of size that was not asked of the engine yet is not wanted any more.",
        _NOTHING,
    )


@unique
class Phase(ReasonWord):
    """How far a change of the EP size has come: the reason of ``ScalingUp`` and ``ScalingDown``.

    All but the first three are the engine's own words. Another release may have others; they are
    reported as they are and mean that the change is in progress.
    """

    RECORDED = (
        "Recorded",
        Outlook.PASSING,
        "The change is in status.operation; whether the engine has been asked is not known.",
        _NOTHING,
    )
    ASKING_AGAIN = (
        "AskingAgain",
        Outlook.PASSING,
        "The engine shows no sign of having been asked for the size and is asked again.",
        _NOTHING,
    )
    PROVING_SERVING = (
        "ProvingServing",
        Outlook.PASSING,
        "The engine counts the new size, and a one-token completion is to prove that it serves.",
        _NOTHING,
    )
    WAITING_FOR_COHORT = (
        "WaitingForCohort",
        Outlook.PASSING,
        "The leader waits for the joiner, which starts and loads the model.",
        "Wait; if it takes too long, look at the joiner pod's log. "
        "engine.scaleTimeoutSeconds says how long the leader waits.",
    )
    PENDING = "Pending", Outlook.PASSING, "The engine has taken the change on.", _NOTHING
    JOINING = "Joining", Outlook.PASSING, "The joiner's ranks are being admitted.", _NOTHING
    CONFIGURING_DATA_PLANE = (
        "ConfiguringDataPlane",
        Outlook.PASSING,
        "The ranks connect to each other.",
        _NOTHING,
    )
    SYNCING_NEW_WORLD = (
        "SyncingNewWorld",
        Outlook.PASSING,
        "The ranks agree on the new EP size, and experts move.",
        _NOTHING,
    )
    DRAINING = (
        "Draining",
        Outlook.PASSING,
        "The ranks that are to go finish their requests.",
        _NOTHING,
    )
    RETIRING = "Retiring", Outlook.PASSING, "The last ranks leave the group.", _NOTHING
    RECONFIGURING = (
        "Reconfiguring",
        Outlook.PASSING,
        "The ranks that stay agree on the new EP size, and experts move.",
        _NOTHING,
    )
    SERVING_SHRUNK = (
        "ServingShrunk",
        Outlook.PASSING,
        "The engine has shrunk before and has the next change pending.",
        _NOTHING,
    )
    WARMING_UP = "WarmingUp", Outlook.PASSING, "The engine gets ready to serve again.", _NOTHING
    IDLE = "Idle", Outlook.PASSING, "The engine has a change pending and not begun it.", _NOTHING
    SERVING_EXPANDED = (
        "ServingExpanded",
        Outlook.PASSING,
        "The engine has grown before and has the next change pending.",
        _NOTHING,
    )
    FAILED = (
        "Failed",
        Outlook.PASSING,
        "The engine's last change failed and the next one is pending.",
        _NOTHING,
    )


@unique
class Happening(ReasonWord):
    """What only an event tells."""

    LEADER_CREATED = (
        "LeaderCreated",
        Outlook.GOOD,
        "The group has a new leader pod, and so a new incarnation.",
        _NOTHING,
    )
    SCALE_UP_STARTED = "ScaleUpStarted", Outlook.GOOD, "A growth of the EP size begins.", _NOTHING
    SCALE_UP_COMPLETED = (
        "ScaleUpCompleted",
        Outlook.GOOD,
        "A growth of the EP size is done, and a completion was served with it.",
        _NOTHING,
    )
    SCALE_DOWN_STARTED = (
        "ScaleDownStarted",
        Outlook.GOOD,
        "The engine is about to be asked to give ranks back.",
        _NOTHING,
    )
    SCALE_DOWN_COMPLETED = (
        "ScaleDownCompleted",
        Outlook.GOOD,
        "The engine has given ranks back, and a completion was served with those that are left.",
        _NOTHING,
    )
    SUCCESSOR_STARTED = (
        "SuccessorStarted",
        Outlook.GOOD,
        "A second incarnation is started beside the one that serves, to take its place.",
        _NOTHING,
    )
    TRAFFIC_MOVED = (
        "TrafficMoved",
        Outlook.GOOD,
        "The second incarnation serves, a completion has proven it, and gets all new requests.",
        _NOTHING,
    )
    DRAIN_STARTED = (
        "DrainStarted",
        Outlook.GOOD,
        "An incarnation gets no new requests any more, finishes those it has, and ends.",
        _NOTHING,
    )
    READY = (
        "Ready",
        Outlook.GOOD,
        "The group has begun to serve with the EP size that the spec asks for.",
        _NOTHING,
    )
    NOT_READY = (
        "NotReady",
        Outlook.PASSING,
        "The group does not serve with the EP size that the spec asks for any more.",
        "Look at the reason and the message of the condition Ready.",
    )
    AVAILABLE = "Available", Outlook.GOOD, "The group has begun to serve.", _NOTHING
    NOT_AVAILABLE = (
        "NotAvailable",
        Outlook.PASSING,
        "The group does not serve any more, or it is not known whether it does.",
        "Look at the reason and the message of the condition Available.",
    )
