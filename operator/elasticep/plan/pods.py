"""What a leader pod and a joiner pod look like."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from elasticep.api import names
from elasticep.api.models import GroupSpec
from elasticep.engine import ports
from elasticep.engine.arguments import Launch, joiner_arguments, leader_arguments
from elasticep.engine.contract import Contract, contract_for, version_from_image
from elasticep.plan import placement
from elasticep.plan.template_hash import template_hash
from elasticep.plan.template_merge import merge_pod

_LEADER_GRACE_SECONDS = 60
"""SGLang looks for SIGTERM every 5 s, then waits up to 15 s for its schedulers, after the
requests that it has accepted."""

_JOINER_GRACE_SECONDS = 60
"""As long as the leader's: when both are deleted at once, with their group, the leader needs its
joiners until it has answered. A joiner ignores SIGTERM, and goes when its leader is gone."""

_HEALTH_TIMEOUT_SECONDS = 20
"""``/health`` generates a token: it takes a second at best, and up to 20 s under load."""


@dataclass(frozen=True, kw_only=True)
class Blueprint:
    """What every pod of a group is made from."""

    group: str
    namespace: str
    group_uid: str
    spec: GroupSpec

    @property
    def contract(self) -> Contract:
        """The engine contract that the arguments follow.

        Raises:
            UnknownEngineVersion: the version is not one that the operator knows.
        """
        engine = self.spec.engine
        return contract_for(engine.version or version_from_image(engine.image) or "")

    @property
    def launch(self) -> Launch:
        """The group as the command lines need it."""
        spec = self.spec
        return Launch(
            model_path=spec.model.path,
            trust_remote_code=spec.model.trust_remote_code,
            leader_ranks=spec.leader.ranks,
            joiner_ranks=spec.joiner.ranks,
            max_ep_size=spec.max_ep_size,
            http_port=spec.engine.port,
            dist_init_port=spec.engine.dist_init_port,
            scale_timeout_seconds=spec.engine.scale_timeout_seconds,
            ib_devices=spec.rdma.devices if spec.rdma else (),
            extra_args=spec.engine.args,
            admin_key=f"$({names.ADMIN_KEY_VARIABLE})",
        )


def leader_pod(blueprint: Blueprint, *, incarnation: str, serial: int) -> dict[str, Any]:
    """The leader pod of an incarnation."""
    arguments = leader_arguments(
        blueprint.contract, blueprint.launch, own_address=f"$({names.POD_IP_VARIABLE})"
    )
    return _pod(
        blueprint,
        name=names.leader_pod(blueprint.group, incarnation),
        labels={names.LABEL_ROLE: names.LEADER, names.LABEL_INCARNATION: incarnation},
        annotations={names.ANNOTATION_SERIAL: str(serial)},
        ranks=blueprint.spec.leader.ranks,
        arguments=arguments,
        affinity=placement.leader_affinity(blueprint.spec),
        grace_seconds=_LEADER_GRACE_SECONDS,
    )


def joiner_pod(
    blueprint: Blueprint,
    *,
    incarnation: str,
    serial: int,
    leader_life: str,
    leader_address: str,
    offset: int,
    after: tuple[str, ...] = (),
) -> dict[str, Any]:
    """The joiner pod at rank ``offset`` of one life of the leader's engine.

    ``after`` are the UIDs of its predecessors that are still there, on a lost node perhaps for
    ever: the name is another one than theirs, and the same again for the same predecessors.
    """
    suffix = names.short_hash(leader_life, *sorted(after)) if after else leader_life
    arguments = joiner_arguments(
        blueprint.contract, blueprint.launch, offset=offset, leader_address=leader_address
    )
    return _pod(
        blueprint,
        name=names.joiner_pod(blueprint.group, offset, suffix),
        labels={
            names.LABEL_ROLE: names.JOINER,
            names.LABEL_INCARNATION: incarnation,
            names.LABEL_OFFSET: str(offset),
        },
        annotations={
            names.ANNOTATION_SERIAL: str(serial),
            names.ANNOTATION_LEADER_LIFE: leader_life,
        },
        ranks=blueprint.spec.joiner.ranks,
        arguments=arguments,
        affinity=placement.joiner_affinity(
            blueprint.spec, group=blueprint.group, incarnation=incarnation
        ),
        grace_seconds=_JOINER_GRACE_SECONDS,
    )


def _pod(
    blueprint: Blueprint,
    *,
    name: str,
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
    ranks: int,
    arguments: tuple[str, ...],
    affinity: Mapping[str, Any],
    grace_seconds: int,
) -> dict[str, Any]:
    owned: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": blueprint.namespace,
            "labels": {
                **names.common_labels(blueprint.group, version=blueprint.contract.version),
                names.LABEL_TEMPLATE_HASH: template_hash(blueprint.spec),
                **labels,
            },
            "annotations": dict(annotations),
            "ownerReferences": [names.owner_reference(blueprint.group, blueprint.group_uid)],
        },
        "spec": {
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": grace_seconds,
            "containers": [_engine_container(blueprint, ranks=ranks, arguments=arguments)],
        },
    }
    if not _user_mounts_shm(blueprint):
        owned["spec"]["volumes"] = [{"name": names.SHM_VOLUME, "emptyDir": {"medium": "Memory"}}]
        mount = {"name": names.SHM_VOLUME, "mountPath": names.SHM_PATH}
        owned["spec"]["containers"][0]["volumeMounts"] = [mount]
    if affinity:
        owned["spec"]["affinity"] = affinity
    if blueprint.spec.host_network:
        _use_host_network(owned, blueprint)
    return merge_pod(user=blueprint.spec.template, owned=owned)


def _use_host_network(owned: dict[str, Any], blueprint: Blueprint) -> None:
    """What differs when the pod's ports are its node's."""
    labels, engine = owned["metadata"]["labels"], blueprint.spec.engine
    labels[names.LABEL_HOST_NETWORK] = "true"
    # Without this a pod on the host's network cannot resolve Services.
    owned["spec"]["dnsPolicy"] = "ClusterFirstWithHostNet"
    bound = ports.joiner_ports(engine.port)
    if labels[names.LABEL_ROLE] == names.LEADER:
        bound = ports.leader_ports(engine.port, engine.dist_init_port)
    # Declared, they are host ports, which the scheduler gives to one pod of a node only.
    owned["spec"]["containers"][0]["ports"] += [
        {"containerPort": port} for port in bound if port != engine.port
    ]


def _user_mounts_shm(blueprint: Blueprint) -> bool:
    containers = blueprint.spec.template.spec.get("containers") or []
    return any(
        mount.get("mountPath") == names.SHM_PATH
        for container in containers
        if container.get("name") == names.CONTAINER
        for mount in container.get("volumeMounts") or []
    )


def _engine_container(
    blueprint: Blueprint, *, ranks: int, arguments: tuple[str, ...]
) -> dict[str, Any]:
    spec = blueprint.spec
    devices = {names.GPU_RESOURCE: str(ranks)}
    if spec.rdma:
        devices[spec.rdma.resource] = str(spec.rdma.count)
    return {
        "name": names.CONTAINER,
        "image": spec.engine.image,
        "command": list(spec.engine.command),
        "args": list(arguments),
        "env": [
            {
                "name": names.POD_IP_VARIABLE,
                "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}},
            },
            {
                "name": names.ADMIN_KEY_VARIABLE,
                "valueFrom": {"secretKeyRef": _admin_key(blueprint)},
            },
        ],
        "ports": [{"name": names.PORT_NAME, "containerPort": spec.engine.port}],
        "resources": {"requests": devices, "limits": dict(devices)},
        "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}},
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "readinessProbe": {
            "httpGet": {"path": "/health", "port": names.PORT_NAME},
            "periodSeconds": 2,
            "timeoutSeconds": _HEALTH_TIMEOUT_SECONDS,
            "failureThreshold": 3,
        },
    }


def admin_key_reference(blueprint: Blueprint) -> tuple[str, str]:
    """The name and the key of the Secret that holds the group's admin key."""
    reference = blueprint.spec.engine.admin_key_secret_ref
    if reference is not None:
        return reference.name, reference.key
    return names.admin_key_secret(blueprint.group), names.ADMIN_KEY_FIELD


def _admin_key(blueprint: Blueprint) -> dict[str, str]:
    name, key = admin_key_reference(blueprint)
    return {"name": name, "key": key}
