"""The spec of an ElasticEPGroup: what the user wants."""

from typing import Annotated

from pydantic import Field

from elasticep.api.fields import LIST_ATOMIC, LIST_SET, ApiModel
from elasticep.api.pod_template import PodTemplate

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

    template: PodTemplate = PodTemplate()
    """A pod template that is merged under what the operator sets: node selectors, tolerations,
    volumes, environment, sidecars.
    """

    paused: bool = False
    """Whether the operator leaves everything as it is."""

    def ep_size(self, replicas: int | None = None) -> int:
        """The EP size, in ranks, of ``replicas`` pods; of the wanted ones when not given."""
        wanted = self.replicas if replicas is None else replicas
        return self.leader.ranks + (wanted - 1) * self.joiner.ranks if wanted > 0 else 0
