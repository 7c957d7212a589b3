"""The pod template: which of its fields the API knows, and hence can check.

``spec.template.spec`` is handed on to Kubernetes, so it may hold any field of a PodSpec. Only
those are described here that the operator also sets, or that are so often mistyped that the
mistake should be found at once and not by a pod that cannot be made.
"""

from typing import Annotated, Any

from pydantic import Field

from elasticep.api.fields import LIST_ATOMIC, ApiModel, OpenModel, ShapedAs, Word, list_map

_QUANTITY = r"^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]+)?$"

Quantity = Annotated[
    Annotated[int, Field(ge=0)] | Annotated[str, Field(pattern=_QUANTITY)],
    Field(json_schema_extra={"x-kubernetes-int-or-string": True}),
]
"""An amount of a resource: a whole number, or a string such as 500m or 80Gi.

A pattern and not a rule with a kinder message: the API server takes such a string's length for
unbounded, so that any rule about it is too costly.
"""

Quantities = Annotated[dict[str, Quantity], Field(max_length=32)]

ObjectList = Annotated[
    tuple[dict[str, Any], ...], Field(max_length=64, json_schema_extra=LIST_ATOMIC)
]
"""A list of Kubernetes' own objects that the API does not look into."""


class TemplateResources(OpenModel):
    """Compute resources of a container."""

    requests: Quantities | None = None
    """What the scheduler reserves for the container."""

    limits: Quantities | None = None
    """What the container may use at most."""


class TemplateEnv(OpenModel):
    """One environment variable."""

    name: Word
    """The variable's name."""


class TemplateVolumeMount(OpenModel):
    """One mounted volume."""

    name: Word
    """The name of the volume, in spec.template.spec.volumes."""

    mount_path: Annotated[str, Field(max_length=1024)]
    """Where it is mounted."""


class TemplateContainer(OpenModel):
    """A container: the one named engine is merged with the operator's, others run beside it."""

    name: Word
    """Its name; engine for additions to the operator's own container."""

    image: Annotated[str, Field(max_length=1024)] | None = None
    """Its image. Of the engine container: spec.engine.image instead."""

    command: (
        Annotated[
            tuple[Annotated[str, Field(max_length=4096)], ...],
            Field(max_length=256, json_schema_extra=LIST_ATOMIC),
        ]
        | None
    ) = None
    """Its entry point. Of the engine container: spec.engine.command instead."""

    args: (
        Annotated[
            tuple[Annotated[str, Field(max_length=4096)], ...],
            Field(max_length=256, json_schema_extra=LIST_ATOMIC),
        ]
        | None
    ) = None
    """Its arguments. Of the engine container: spec.engine.args instead."""

    ports: ObjectList | None = None
    """Its ports. The operator sets those of the engine container."""

    env: (
        Annotated[tuple[TemplateEnv, ...], Field(max_length=256, json_schema_extra=LIST_ATOMIC)]
        | None
    ) = None
    """Environment variables, such as those of NCCL, UCX and Mooncake."""

    volume_mounts: (
        Annotated[
            tuple[TemplateVolumeMount, ...], Field(max_length=64, json_schema_extra=LIST_ATOMIC)
        ]
        | None
    ) = None
    """Mounted volumes, such as those of models and of compiled kernels."""

    resources: TemplateResources | None = None
    """CPU and memory. The operator adds GPUs and RDMA devices to the engine container."""

    liveness_probe: dict[str, Any] | None = None
    """Not for the engine container, which must not be killed while it loads or joins."""

    readiness_probe: dict[str, Any] | None = None
    """Of the engine container: in place of the operator's own, which asks for GET /health."""

    startup_probe: dict[str, Any] | None = None
    """Not for the engine container, which may load for as long as it needs."""


class TemplateVolume(OpenModel):
    """One volume."""

    name: Word
    """Its name."""


Containers = Annotated[
    tuple[TemplateContainer, ...], Field(max_length=16, json_schema_extra=list_map("name"))
]


class TemplatePodSpec(OpenModel):
    """A PodSpec to be merged under what the operator sets."""

    containers: Containers | None = None
    """Sidecars, and additions to the container named engine."""

    init_containers: Containers | None = None
    """Containers that run before the engine starts."""

    volumes: (
        Annotated[
            tuple[TemplateVolume, ...],
            Field(max_length=64, json_schema_extra=list_map("name")),
        ]
        | None
    ) = None
    """Volumes for volumeMounts, such as a model cache."""

    node_selector: Annotated[dict[str, Word], Field(max_length=32)] | None = None
    """Labels that a node must have."""

    tolerations: ObjectList | None = None
    """Taints that the pods tolerate."""

    affinity: dict[str, Any] | None = None
    """Scheduling constraints relative to nodes and other pods."""

    topology_spread_constraints: ObjectList | None = None
    """How pods spread over the topology."""

    scheduling_gates: ObjectList | None = None
    """Gates that hold the pods back from scheduling, as a queueing controller removes them."""

    scheduler_name: Word | None = None
    """The scheduler that places the pods."""

    priority_class_name: Word | None = None
    """The pods' priority class."""

    runtime_class_name: Word | None = None
    """The pods' runtime class."""

    service_account_name: Word | None = None
    """The ServiceAccount that the pods run as."""

    automount_service_account_token: bool | None = None
    """Whether the ServiceAccount's token is mounted."""

    image_pull_secrets: ObjectList | None = None
    """Secrets for pulling images."""

    security_context: dict[str, Any] | None = None
    """Security settings of the pods."""

    host_network: bool | None = None
    """Whether the pods use their node's network; no two such pods then share a node."""

    dns_policy: Word | None = None
    """How names are resolved; ClusterFirstWithHostNet with hostNetwork."""

    termination_grace_period_seconds: Annotated[int, Field(ge=0, le=86400)] | None = None
    """How long a stopping engine may take."""

    node_name: Word | None = None
    """Refused: it would bypass the scheduler, and put every pod on the same node."""

    hostname: Word | None = None
    """Refused: the operator names the pods."""

    subdomain: Word | None = None
    """Refused: the operator gives the engine addresses, not names."""

    restart_policy: Word | None = None
    """Refused: the operator sets it."""

    active_deadline_seconds: Annotated[int, Field(ge=1)] | None = None
    """Refused: it would end an engine that serves."""


class TemplateMetadata(ApiModel):
    """Labels and annotations that are added to every pod."""

    labels: Annotated[dict[str, Annotated[str, Field(max_length=63)]], Field(max_length=64)] = (
        Field(default_factory=dict)
    )
    """Labels for every pod of the group, such as a queue's name. Those of the group itself are on
    no pod.
    """

    annotations: Annotated[
        dict[str, Annotated[str, Field(max_length=8192)]], Field(max_length=64)
    ] = Field(default_factory=dict)
    """Annotations for every pod of the group."""


class PodTemplate(ApiModel):
    """A pod template that is merged under what the operator sets."""

    metadata: TemplateMetadata = TemplateMetadata()
    """Labels and annotations of the pods."""

    spec: Annotated[dict[str, Any], ShapedAs(TemplatePodSpec)] = Field(default_factory=dict)
    """Any fields of a PodSpec, merged under those that the operator sets; lists of named things
    (containers, volumes, environment variables) are merged by name.
    """
