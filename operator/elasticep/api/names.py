"""Every name that the operator gives to something, in one place.

Names are derived, never remembered: the same input gives the same name after a restart of
the operator.
"""

import hashlib

API_GROUP = "elasticep.dev"
VERSION = "v1alpha1"
API_VERSION = f"{API_GROUP}/{VERSION}"
KIND = "ElasticEPGroup"
PLURAL = "elasticepgroups"
SHORT_NAME = "eepg"

FIELD_MANAGER = "elasticep"
STATUS_FIELD_MANAGER = "elasticep-status"
KUBECTL_FIELD_MANAGER = "kubectl-elasticep"
REPORTING_CONTROLLER = f"{API_GROUP}/operator"

LABEL_GROUP = f"{API_GROUP}/group-name"
LABEL_ROLE = f"{API_GROUP}/role"
LABEL_OFFSET = f"{API_GROUP}/rank-offset"
LABEL_INCARNATION = f"{API_GROUP}/incarnation"
LABEL_SERVING = f"{API_GROUP}/serving"
LABEL_TEMPLATE_HASH = f"{API_GROUP}/template-hash"
LABEL_HOST_NETWORK = f"{API_GROUP}/host-network"
ANNOTATION_SERIAL = f"{API_GROUP}/incarnation-serial"
ANNOTATION_LEADER_LIFE = f"{API_GROUP}/leader-life"
ANNOTATION_RESUME = f"{API_GROUP}/resume"
LABEL_MANAGED_BY = "app.kubernetes.io/managed-by"
MANAGED_BY = "elasticep"

CONTAINER = "engine"
PORT_NAME = "http"
ADMIN_KEY_FIELD = "admin-key"
ADMIN_KEY_VARIABLE = "ELASTICEP_ADMIN_KEY"
POD_IP_VARIABLE = "POD_IP"
SHM_VOLUME = "shm"
SHM_PATH = "/dev/shm"  # noqa: S108 - a mount point, not a file
NODE_NAME_LABEL = "kubernetes.io/hostname"
GPU_RESOURCE = "nvidia.com/gpu"

LEADER = "leader"
JOINER = "joiner"

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""As Kubernetes' own name suffixes: no vowels, hence no words; nothing that looks alike."""

_SUFFIX_LENGTH = 6
_MAX_POD_NAME = 63
"""A pod's name is also its host name, one DNS label."""

MAX_GROUP_NAME = _MAX_POD_NAME - len(f"-{JOINER}-9999-") - _SUFFIX_LENGTH
"""The longest group name from which every derived name still is one DNS label."""


def short_hash(*parts: str) -> str:
    """Six characters that stand for ``parts``; the same parts give the same characters."""
    digest = int.from_bytes(hashlib.sha256("\0".join(parts).encode()).digest())
    characters = []
    for _ in range(_SUFFIX_LENGTH):
        digest, index = divmod(digest, len(_ALPHABET))
        characters.append(_ALPHABET[index])
    return "".join(characters)


def incarnation_id(group_uid: str, serial: int) -> str:
    """The id of a group's ``serial``-th leader pod.

    The group's UID is part of it, so a group that is deleted and made again under the same
    name never meets the pods of its predecessor.
    """
    return short_hash(group_uid, str(serial))


def leader_pod(group: str, incarnation: str) -> str:
    """The leader pod's name."""
    return f"{group}-{LEADER}-{incarnation}"


def joiner_pod(group: str, offset: int, leader_life: str) -> str:
    """The name of the joiner pod at rank ``offset`` of one life of the leader's engine."""
    return f"{group}-{JOINER}-{offset}-{leader_life}"


def service(group: str) -> str:
    """The name of the Service that clients use: the group's own."""
    return group


def network_policy(group: str) -> str:
    """The name of the NetworkPolicy of the group's pods.

    Not the group's own name, which users often give to a policy that they write themselves.
    """
    return f"{group}-engine"


def disruption_budget(group: str) -> str:
    """The name of the PodDisruptionBudget of the group's pods; not the group's own, as above."""
    return f"{group}-engine"


def surroundings(group: str) -> dict[str, str]:
    """The names of the objects that are kept around a group's pods, by their kinds."""
    return {
        "Service": service(group),
        "NetworkPolicy": network_policy(group),
        "PodDisruptionBudget": disruption_budget(group),
    }


def admin_key_secret(group: str) -> str:
    """The name of the Secret that holds the generated admin key."""
    return f"{group}-admin-key"


def pod_labels(group: str) -> dict[str, str]:
    """The labels that tell a group's pods, of whatever incarnation, from all others."""
    return {LABEL_GROUP: group, LABEL_MANAGED_BY: MANAGED_BY}


def pod_selector(group: str) -> str:
    """The label selector that matches every pod of a group, of whatever incarnation."""
    return ",".join(f"{label}={value}" for label, value in pod_labels(group).items())


def incarnation_selector(group: str, incarnation: str) -> str:
    """The label selector that matches the pods of one incarnation: what an HPA counts."""
    return f"{LABEL_GROUP}={group},{LABEL_INCARNATION}={incarnation}"


def common_labels(group: str, *, version: str | None = None) -> dict[str, str]:
    """The labels that stand on every object of a group.

    ``version`` is the engine's. Selection goes by our own labels only: users and Argo CD
    write ``app.kubernetes.io/instance`` too.
    """
    labels = {
        "app.kubernetes.io/name": "sglang",
        "app.kubernetes.io/component": "engine",
        "app.kubernetes.io/part-of": group,
        LABEL_MANAGED_BY: MANAGED_BY,
        LABEL_GROUP: group,
    }
    if version is not None:
        labels["app.kubernetes.io/version"] = version
    return labels


def owner_reference(group: str, uid: str) -> dict[str, str | bool]:
    """The reference by which the garbage collector ends the object with its group."""
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "name": group,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
