"""The spec of an ElasticEPGroup: what the user wants."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from elasticep.api.fields import LIST_ATOMIC, LIST_SET, ApiModel
from elasticep.api.pod_template import PodTemplate
from elasticep.api.surroundings import DisruptionBudget, NetworkPolicy, Placement

MAX_RANKS = 64
"""Ranks, hence GPUs, of one pod; no node has more."""

MAX_EP_SIZE = 4096
"""Ranks of one group; an offset below it fits the pods' names."""

MAX_REPLICAS = 1024
"""Pods of one group."""

Argument = Annotated[str, Field(max_length=2048)]

Ranks = Annotated[int, Field(ge=1, le=MAX_RANKS)]


class ModelSource(ApiModel):
    """The model that every rank loads."""

    path: Annotated[str, Field(min_length=1, max_length=1024)]
    """A name on the model hub, or a path in the container; as SGLang's --model-path."""

    trust_remote_code: bool = False
    """Whether code that comes with the model may run."""


class SecretKeyRef(ApiModel):
    """One key of a Secret in the group's namespace."""

    name: Annotated[str, Field(min_length=1, max_length=253)]
    """The Secret's name."""

    key: Annotated[str, Field(min_length=1, max_length=253)] = "admin-key"
    """The key within the Secret."""


class Engine(ApiModel):
    """The SGLang image and how it is launched."""

    image: Annotated[str, Field(min_length=1, max_length=1024)]
    """The image with SGLang, the same for leader and joiners."""

    version: Annotated[str, Field(max_length=32)] | None = None
    """The SGLang release in the image, which decides how arguments are spelt; read from the
    image's tag when not set.
    """

    command: Annotated[
        tuple[Argument, ...], Field(min_length=1, max_length=32, json_schema_extra=LIST_ATOMIC)
    ] = ("python3", "-m", "sglang.launch_server")
    """What starts the engine, before its arguments; no shell is involved."""

    args: Annotated[tuple[Argument, ...], Field(max_length=128, json_schema_extra=LIST_ATOMIC)] = ()
    """Further SGLang flags, the same for leader and joiners; those that the operator sets are
    refused.
    """

    port: Annotated[int, Field(ge=1, le=65302)] = 30000
    """The engine's HTTP port; port + 233 is used as well."""

    dist_init_port: Annotated[int, Field(ge=1024, le=65522)] = 20000
    """The first of the leader's rendezvous ports; the 6 after it and the 13th are used as well."""

    admin_key_secret_ref: SecretKeyRef | None = None
    """The key that protects the engine's admin routes; the operator generates one when not set."""

    scale_timeout_seconds: Annotated[int, Field(ge=60, le=86400)] = 1800
    """How long the engine waits for a joiner; it must cover loading the model."""

    start_timeout_seconds: Annotated[int, Field(ge=60, le=86400)] = 3600
    """How long a leader may go without being Ready, loading or later, before it counts as hung and
    is started again.
    """


class Leader(ApiModel):
    """The launch cohort."""

    ranks: Ranks
    """Ranks, hence GPUs, of the leader pod: the EP size that the group starts with."""


class Joiner(ApiModel):
    """The cohort that each further replica adds."""

    ranks: Ranks
    """Ranks, hence GPUs, that each joiner pod adds."""


class Rdma(ApiModel):
    """The RDMA devices of every pod."""

    resource: Annotated[str, Field(min_length=1, max_length=317)]
    """The extended resource of the cluster's RDMA device plugin, such as
    rdma/hca_shared_devices_a.
    """

    count: Annotated[int, Field(ge=1, le=64)] = 1
    """How many of them each pod gets."""

    devices: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=64)], ...],
        Field(max_length=32, json_schema_extra=LIST_SET),
    ] = ()
    """Names of the devices to use, as in /sys/class/infiniband; found by the engine itself when
    empty. An unknown name makes the engine crash.
    """


class MoveStrategy(StrEnum):
    """How a group goes over from one life of its engine to the next."""

    SURGE = "Surge"
    RESTART = "Restart"


class ShrinkStrategy(StrEnum):
    """How a group comes to serve with fewer ranks."""

    SURGE = "Surge"
    RESTART = "Restart"
    NATIVE = "Native"
    DISABLED = "Disabled"


class ShrinkFallback(StrEnum):
    """What is done when an engine cannot give ranks back itself."""

    SURGE = "Surge"
    RESTART = "Restart"
    DISABLED = "Disabled"


class ScaleDown(ApiModel):
    """How the group comes to serve with fewer ranks, and how any engine of it is ended."""

    strategy: ShrinkStrategy = ShrinkStrategy.SURGE
    """Surge starts a smaller group beside the old one and moves the traffic when it serves, which
    needs that many free GPUs; Restart ends the old one first, so nothing serves meanwhile; Native
    has the engine give ranks back, where it can; Disabled keeps the size.
    """

    fallback: ShrinkFallback = ShrinkFallback.SURGE
    """What Native comes to when the engine cannot give ranks back."""

    drain_seconds: Annotated[int, Field(ge=0, le=86400)] = 120
    """How long an engine that gets no new requests may take to answer those it has, before it is
    ended: after a scale-down, a roll-out or a stop. It has 5 seconds at least.
    """

    stabilization_seconds: Annotated[int, Field(ge=0, le=3600)] = 300
    """How long a smaller size must be asked for before it is acted on; 0 replicas and a growth
    are acted on at once.
    """


class Backoff(ApiModel):
    """The wait between two tries."""

    initial_seconds: Annotated[int, Field(ge=1, le=3600)] = 10
    """After the first failure; doubled with each further one."""

    max_seconds: Annotated[int, Field(ge=1, le=86400)] = 600
    """The longest wait."""


class Recovery(ApiModel):
    """What follows when ranks are lost, or something fails that may work another time."""

    strategy: MoveStrategy = MoveStrategy.RESTART
    """Restart ends what is left and starts again; Surge lets a leader that still answers go on
    until its successor serves, which needs that many free GPUs.
    """

    max_restarts: Annotated[int, Field(ge=0, le=100)] = 5
    """How many failures in a row are tried again, before the group waits for a human."""

    backoff: Backoff = Backoff()
    """The wait between two tries."""


class Rollout(ApiModel):
    """What follows when a field changes that shapes the pods."""

    strategy: MoveStrategy = MoveStrategy.SURGE
    """Surge starts the new group beside the old one and moves the traffic when it serves, which
    needs that many free GPUs; Restart ends the old one first, so nothing serves meanwhile.
    """

    progress_deadline_seconds: Annotated[int, Field(ge=60, le=604800)] = 7200
    """How long a successor may take to serve, for whatever reason it is made, before it counts as
    failed and gives its GPUs back.
    """


class GroupSpec(ApiModel):
    """What the user wants."""

    replicas: Annotated[int, Field(ge=0, le=MAX_REPLICAS)] = 1
    """Pods: one leader and replicas - 1 joiners; 1 is the leader alone, 0 stops the group."""

    model: ModelSource
    """The model that every rank loads."""

    engine: Engine
    """The SGLang image and how it is launched."""

    leader: Leader
    """The launch cohort."""

    joiner: Joiner
    """The cohort that each further replica adds."""

    max_ep_size: Annotated[int, Field(alias="maxEPSize", ge=2, le=MAX_EP_SIZE)]
    """The EP size, in ranks, for which the engine reserves memory at boot; it cannot grow past."""

    rdma: Rdma | None = None
    """The RDMA devices of every pod."""

    placement: Placement | None = None
    """Where joiners run, seen from their leader; anywhere when not set."""

    template: PodTemplate = PodTemplate()
    """A pod template that is merged under what the operator sets: node selectors, tolerations,
    volumes, environment, sidecars.
    """

    scale_down: ScaleDown = ScaleDown()
    """How the group comes to serve with fewer ranks, and how any engine of it is ended."""

    recovery: Recovery = Recovery()
    """What follows when ranks are lost, or something fails that may work another time."""

    rollout: Rollout = Rollout()
    """What follows when a field changes that shapes the pods."""

    network_policy: NetworkPolicy = NetworkPolicy()
    """Who may connect to the group's pods."""

    disruption_budget: DisruptionBudget = DisruptionBudget()
    """Whether a drain of a node may evict the group's pods."""

    paused: bool = False
    """Whether the operator leaves everything as it is."""

    @property
    def host_network(self) -> bool:
        """Whether the pods use their node's network, and so share its ports."""
        return bool(self.template.spec.get("hostNetwork"))

    def ep_size(self, replicas: int | None = None) -> int:
        """The EP size, in ranks, of ``replicas`` pods; of the wanted ones when not given."""
        wanted = self.replicas if replicas is None else replicas
        return self.leader.ranks + (wanted - 1) * self.joiner.ranks if wanted > 0 else 0
