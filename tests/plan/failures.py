"""Ten ways for a group to fail, as snapshots of the moment when the planner finds out."""

from dataclasses import dataclass, replace
from datetime import timedelta

from tests.plan import world

from elasticep.api.models import GroupStatus, JoinerState, JoinerStatus
from elasticep.api.reasons import Blocked, Engine
from elasticep.world.engine import EngineUnknown
from elasticep.world.pods import Container, Exit, Pod
from elasticep.world.snapshot import Existing, Refusal, Snapshot

GRAPHS = "AssertionError: Elastic EP scale-up requires decode CUDA graphs to be disabled"
RDMA = "ValueError: Invalid IB devices specified: ['SET-ME']. Available devices: ['mlx5_0']"


@dataclass(frozen=True, kw_only=True)
class Story:
    """A failure, and what a stranger must be able to read of it."""

    snapshot: Snapshot
    reason: str
    says: tuple[str, ...]
    """What is wrong, and what to do."""


def exit_of(message: str, *, code: int = 1, reason: str = "Error") -> Exit:
    moment = world.NOW - timedelta(seconds=3)
    return Exit(
        code=code,
        reason=reason,
        message=message,
        started_at=moment - timedelta(seconds=20),
        finished_at=moment,
    )


def waiting(reason: str, message: str = "") -> tuple[Container, ...]:
    return (Container(name="engine", waiting_reason=reason, waiting_message=message),)


def crashing(ended: Exit) -> tuple[Container, ...]:
    again = Container(name="engine", restarts=2, waiting_reason="CrashLoopBackOff")
    return (replace(again, last_exit=ended),)


def young(containers: tuple[Container, ...] = (), **changes: object) -> Pod:
    """A leader pod that has not served yet."""
    return world.leader(
        **{
            "phase": "Pending",
            "ready": False,
            "serving": False,
            "containers": containers,
            **changes,
        }
    )


def starting(leader: Pod) -> Snapshot:
    return world.surrounded(world.snapshot(pods=(leader,)))


def serving(effective: int = 4, **changes: object) -> Snapshot:
    at_size = {"pods": (world.leader(),), "engine": world.engine(effective)}
    return world.surrounded(world.snapshot(**{**at_size, **changes}))


def _lost_rank() -> Snapshot:
    joined = JoinerStatus(
        pod="lite-joiner-4", uid="joiner-4-uid", offset=4, ranks=2, state=JoinerState.JOINED
    )
    killed = world.joiner(
        4,
        ready=False,
        containers=(
            replace(
                world.running(container_id="containerd://joiner-4b", restarts=1),
                ready=False,
                last_exit=exit_of("", code=137, reason="OOMKilled"),
            ),
        ),
    )
    status = GroupStatus(joiners=(joined,))
    return serving(6, pods=(world.leader(), killed), group=world.group(status=status))


NO_NODE = (
    "0/3 nodes are available: 3 Insufficient rdma/hca_shared_devices_a. preemption: 0/3 nodes "
    "are available: 3 Preemption is not helpful for scheduling."
)
QUOTA = (
    'pods "lite-joiner-4-xyz" is forbidden: exceeded quota: gpus, requested: '
    "requests.nvidia.com/gpu=2, used: requests.nvidia.com/gpu=4, limited: "
    "requests.nvidia.com/gpu=4"
)
NO_IMAGE = (
    'Back-off pulling image "lmsysorg/sglang:v0.5.99": ErrImagePull: rpc error: code = NotFound '
    "desc = failed to pull and unpack image: not found"
)

STORIES = {
    "wrong image": Story(
        snapshot=starting(young(waiting("ImagePullBackOff", NO_IMAGE))),
        reason="ImagePullBackOff",
        says=("lmsysorg/sglang:v0.5.99", "Correct engine.image"),
    ),
    "CUDA graphs on": Story(
        snapshot=starting(young(crashing(exit_of(f"Traceback\n{GRAPHS}")))),
        reason="CudaGraphEnabled",
        says=("decode CUDA graphs to be disabled", "Remove every CUDA graph flag", "resume lite"),
    ),
    "RDMA device name": Story(
        snapshot=starting(young(crashing(exit_of(f"{RDMA}\nKilled")))),
        reason="RdmaDeviceName",
        says=("SET-ME", "/sys/class/infiniband", "resume lite"),
    ),
    "out of memory": Story(
        snapshot=starting(young(crashing(exit_of("", code=137, reason="OOMKilled")))),
        reason="OOMKilled",
        says=("137 (OOMKilled)", "Raise the engine container's memory limit", "12:00:10 UTC"),
    ),
    "no node": Story(
        snapshot=starting(young(node="", unschedulable=NO_NODE)),
        reason="Unschedulable",
        says=("3 Insufficient rdma/hca_shared_devices_a", "correct rdma.resource"),
    ),
    "quota": Story(
        snapshot=serving(
            refusals=(
                Refusal(
                    subject="Pod lite-joiner-4-xyz",
                    reason=Blocked.QUOTA_EXCEEDED,
                    message=QUOTA,
                ),
            )
        ),
        reason="QuotaExceeded",
        says=("exceeded quota: gpus", "Raise the ResourceQuota", "12:00:10 UTC"),
    ),
    "missing Secret": Story(
        snapshot=starting(young(waiting("CreateContainerConfigError", 'secret "keys" not found'))),
        reason="CreateContainerConfigError",
        says=('secret "keys" not found', "Create the Secret"),
    ),
    "name conflict": Story(
        snapshot=replace(
            starting(young()), surroundings={"Service": Existing(owner_uid="", content={})}
        ),
        reason="NameConflict",
        says=("Service lite", "Delete or rename it"),
    ),
    "admin key changed": Story(
        snapshot=serving(
            engine=EngineUnknown(
                reason=Engine.UNAUTHORIZED, message="the engine refuses the group's admin key"
            )
        ),
        reason="EngineUnauthorized",
        says=("refuses the group's admin key", "delete the leader pod"),
    ),
    "rank lost": Story(
        snapshot=_lost_rank(),
        reason="RankLost",
        says=("ranks from 4 on were lost", "137 (OOMKilled)", "memory limit", "12:00:10 UTC"),
    ),
}
