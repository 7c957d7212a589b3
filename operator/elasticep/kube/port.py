"""What the operator needs of an API server: eight verbs, plain dicts, named errors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from elasticep.api import names

Manifest = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Resource:
    """One kind of object, as its URL spells it."""

    group: str
    """The API group; empty for the core group."""
    version: str
    plural: str


GROUPS = Resource(group=names.API_GROUP, version=names.VERSION, plural=names.PLURAL)
PODS = Resource(group="", version="v1", plural="pods")
SERVICES = Resource(group="", version="v1", plural="services")
SECRETS = Resource(group="", version="v1", plural="secrets")
NETWORK_POLICIES = Resource(group="networking.k8s.io", version="v1", plural="networkpolicies")
DISRUPTION_BUDGETS = Resource(group="policy", version="v1", plural="poddisruptionbudgets")
EVENTS = Resource(group="events.k8s.io", version="v1", plural="events")
LEASES = Resource(group="coordination.k8s.io", version="v1", plural="leases")

SURROUNDINGS: Mapping[str, Resource] = {
    "Service": SERVICES,
    "NetworkPolicy": NETWORK_POLICIES,
    "PodDisruptionBudget": DISRUPTION_BUDGETS,
}
"""By kind, the objects that are kept around a group's pods."""


class KubeError(Exception):
    """The API server did not do what was asked.

    Attributes:
        code: the HTTP status, 0 when there was no answer.
        reason: the machine-readable word of the answer.
        message: the sentence of the answer.
    """

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(f"{message} ({code} {reason})")
        self.code = code
        self.reason = reason
        self.message = message


class NotFoundError(KubeError):
    """The object, or its kind, does not exist."""


class AlreadyExistsError(KubeError):
    """An object of that name exists."""


class ConflictError(KubeError):
    """The object is another one, or a newer one, than the request was made for."""


class ForbiddenError(KubeError):
    """The request is not allowed: permissions, a quota, or a policy."""


class InvalidError(KubeError):
    """The object is not well formed."""


class UnavailableError(KubeError):
    """No answer, or one that says to come back later. Nothing is known of the outcome."""


class Kube(Protocol):
    """An API server. Every call raises a `KubeError` when it is not done."""

    async def get(self, resource: Resource, namespace: str, name: str) -> dict[str, Any]:
        """Read one object, live."""

    async def list(
        self, resource: Resource, *, namespace: str | None = None, labels: str = ""
    ) -> list[dict[str, Any]]:
        """Read every object with these labels, live; of all namespaces when none is given."""

    async def create(self, resource: Resource, manifest: Manifest) -> dict[str, Any]:
        """Make an object under the very name that its manifest gives."""

    async def replace(self, resource: Resource, manifest: Manifest) -> dict[str, Any]:
        """Write the whole object over the version that its manifest was read at."""

    async def apply(
        self, resource: Resource, manifest: Manifest, *, manager: str, subresource: str = ""
    ) -> dict[str, Any]:
        """Server-side apply, taking over the fields from whoever else set them."""

    async def delete(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        *,
        uid: str,
        grace_seconds: int | None = None,
    ) -> None:
        """Delete that very object. It is no error when it is gone already.

        ``grace_seconds`` is how long a pod may take to end, if not what the pod itself says.
        """

    async def log_tail(self, namespace: str, pod: str, container: str, *, previous: bool) -> str:
        """The end of a container's log: of its present life, or of the one before."""

    async def close(self) -> None:
        """Let go of every connection."""
