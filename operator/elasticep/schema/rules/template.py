"""Rules about the pod template: what the operator sets itself is refused there."""

from elasticep.api import names
from elasticep.schema.rules.rule import Reason, Rule, literal, no_placeholder

_POD = "spec.template.spec"
_CONTAINER = f"{_POD}.containers[]"
_INIT_CONTAINER = f"{_POD}.initContainers[]"

_NOT_IN_THE_POD = {
    "nodeName": "it bypasses the scheduler and puts every pod on one node: use nodeSelector or"
    " affinity instead",
    "hostname": "the operator names the pods: remove it",
    "subdomain": "the operator gives the engine addresses, not names: remove it",
    "restartPolicy": "the operator sets it: remove it",
    "activeDeadlineSeconds": "it would end an engine that serves: remove it",
}

_NOT_IN_THE_ENGINE = {
    "image": "the engine's image is spec.engine.image: set it there",
    "command": "the engine's command is spec.engine.command: set it there",
    "args": "the engine's arguments are spec.engine.args: set them there",
    "ports": "the engine's ports are spec.engine.port and spec.engine.distInitPort: set them there",
    "livenessProbe": "it would kill an engine that loads or waits for a joiner: remove it",
    "startupProbe": "it would kill an engine that loads: remove it",
}

_IS_ENGINE = f"self.name == {literal(names.CONTAINER)}"


def _engine_mounts_shm() -> str:
    return (
        f"has(self.containers) && self.containers.exists(c, c.name == {literal(names.CONTAINER)}"
        " && has(c.volumeMounts) && c.volumeMounts.exists(m, m.mountPath =="
        f" {literal(names.SHM_PATH)}))"
    )


_POD_RULES = (
    *(
        Rule(
            at=_POD,
            field=f".{field}",
            holds=f"!has(self.{field})",
            message=message,
            reason=Reason.FORBIDDEN,
        )
        for field, message in _NOT_IN_THE_POD.items()
    ),
    Rule(
        at=_POD,
        field=".volumes",
        holds=f"!has(self.volumes) || self.volumes.all(v, v.name != {literal(names.SHM_VOLUME)})"
        f" || ({_engine_mounts_shm()})",
        message=f"the operator's own volume is called {names.SHM_VOLUME}: give yours another name,"
        f" or mount it in the engine container at {names.SHM_PATH} to replace the operator's",
        reason=Reason.FORBIDDEN,
    ),
)

_CONTAINER_RULES = (
    *(
        Rule(
            at=_CONTAINER,
            field=f".{field}",
            holds=f"!({_IS_ENGINE}) || !has(self.{field})",
            message=message,
            reason=Reason.FORBIDDEN,
        )
        for field, message in _NOT_IN_THE_ENGINE.items()
    ),
    Rule(
        at=_CONTAINER,
        field=".image",
        holds=f"{_IS_ENGINE} || has(self.image)",
        message="a container beside the engine needs an image; additions to the engine go into"
        f" the container named {names.CONTAINER}",
        reason=Reason.REQUIRED,
    ),
    Rule(
        at=_CONTAINER,
        field=".env",
        holds=f"!({_IS_ENGINE}) || !has(self.env) || self.env.all(e, !(e.name in"
        f" {literal((names.POD_IP_VARIABLE, names.ADMIN_KEY_VARIABLE))}))",
        message=f"the operator sets {names.POD_IP_VARIABLE} and {names.ADMIN_KEY_VARIABLE}:"
        " give your variable another name",
        reason=Reason.FORBIDDEN,
    ),
    *(
        Rule(
            at=_CONTAINER,
            field=".resources",
            holds=f"!({_IS_ENGINE}) || !has(self.resources) || !has(self.resources.{kind})"
            f" || !({literal(names.GPU_RESOURCE)} in self.resources.{kind})",
            message=f"the operator asks for one {names.GPU_RESOURCE} per rank: remove it from"
            f" {kind}, and set spec.leader.ranks and spec.joiner.ranks",
            reason=Reason.FORBIDDEN,
        )
        for kind in ("requests", "limits")
    ),
    Rule(
        at=_INIT_CONTAINER,
        field=".name",
        holds=f"self.name != {literal(names.CONTAINER)}",
        message=f"{names.CONTAINER} is the name of the engine's container: choose another",
    ),
    Rule(
        at=_INIT_CONTAINER,
        field=".image",
        holds="has(self.image)",
        message="an init container needs an image",
        reason=Reason.REQUIRED,
    ),
)

_SHARED_RULES = tuple(
    no_placeholder(at=f"{container}.image", instead="an image, as REGISTRY/NAME:TAG")
    for container in (_CONTAINER, _INIT_CONTAINER)
)

_RDMA_RULES = tuple(
    Rule(
        at="spec",
        field=".template.spec.containers",
        holds="!has(self.rdma) || !has(self.template) || !has(self.template.spec)"
        " || !has(self.template.spec.containers)"
        f" || self.template.spec.containers.all(c, c.name != {literal(names.CONTAINER)}"
        f" || !has(c.resources) || !has(c.resources.{kind})"
        f" || !(self.rdma.resource in c.resources.{kind}))",
        message="the operator asks for the RDMA resource: remove it from the engine container's"
        f" {kind}, and set spec.rdma.count",
        reason=Reason.FORBIDDEN,
    )
    for kind in ("requests", "limits")
)

TEMPLATE = (*_POD_RULES, *_CONTAINER_RULES, *_SHARED_RULES, *_RDMA_RULES)
