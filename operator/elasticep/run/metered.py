"""An API server of which every answer is counted."""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from elasticep.kube.port import PODS, Kube, KubeError, Manifest, Resource

T = TypeVar("T")

_OK = 200


class Count(Protocol):
    """Who counts the requests."""

    def __call__(self, *, verb: str, resource: str, code: int) -> None:
        """The API server answered; code 0 when it did not."""


@dataclass(frozen=True, kw_only=True)
class MeteredKube:
    """A `Kube` that does what another does, and tells of each request."""

    kube: Kube
    count: Count

    async def get(self, resource: Resource, namespace: str, name: str) -> dict[str, Any]:
        """Read one object, live."""
        return await self._counted("get", resource, self.kube.get(resource, namespace, name))

    async def list(
        self, resource: Resource, *, namespace: str | None = None, labels: str = ""
    ) -> list[dict[str, Any]]:
        """Read every object with these labels, live; of all namespaces when none is given."""
        request = self.kube.list(resource, namespace=namespace, labels=labels)
        return await self._counted("list", resource, request)

    async def create(self, resource: Resource, manifest: Manifest) -> dict[str, Any]:
        """Make an object under the very name that its manifest gives."""
        return await self._counted("create", resource, self.kube.create(resource, manifest))

    async def replace(self, resource: Resource, manifest: Manifest) -> dict[str, Any]:
        """Write the whole object over the version that its manifest was read at."""
        return await self._counted("update", resource, self.kube.replace(resource, manifest))

    async def apply(
        self, resource: Resource, manifest: Manifest, *, manager: str, subresource: str = ""
    ) -> dict[str, Any]:
        """Server-side apply, taking over the fields from whoever else set them."""
        request = self.kube.apply(resource, manifest, manager=manager, subresource=subresource)
        return await self._counted("apply", resource, request, subresource)

    async def delete(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        *,
        uid: str,
        grace_seconds: int | None = None,
    ) -> None:
        """Delete that very object. It is no error when it is gone already."""
        request = self.kube.delete(resource, namespace, name, uid=uid, grace_seconds=grace_seconds)
        await self._counted("delete", resource, request)

    async def log_tail(self, namespace: str, pod: str, container: str, *, previous: bool) -> str:
        """The end of a container's log: of its present life, or of the one before."""
        request = self.kube.log_tail(namespace, pod, container, previous=previous)
        return await self._counted("get", PODS, request, "log")

    async def close(self) -> None:
        """Let go of every connection."""
        await self.kube.close()

    async def _counted(
        self, verb: str, resource: Resource, request: Awaitable[T], subresource: str = ""
    ) -> T:
        name = f"{resource.plural}/{subresource}" if subresource else resource.plural
        code = _OK
        try:
            return await request
        except KubeError as error:
            code = error.code
            raise
        finally:
            self.count(verb=verb, resource=name, code=code)
