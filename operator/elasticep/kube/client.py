"""The API server behind the official asynchronous client, used with plain dicts.

The generated models are left aside: they cost tens of kilobytes a pod, and their field names
have changed between major versions.
"""

import json
from collections.abc import Mapping
from typing import Any

import aiohttp
from kubernetes.aio import config
from kubernetes.aio.client import ApiClient, Configuration

from elasticep.api import names
from elasticep.kube.port import (
    PODS,
    AlreadyExistsError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    KubeError,
    Manifest,
    NotFoundError,
    Resource,
    UnavailableError,
)

_TIMEOUT_SECONDS = 30
_PAGE = 500
_LOG_LINES = 100
_LOG_BYTES = 64 * 1024
_FIRST_SERVER_ERROR = 500
_FIRST_ERROR = 400
_ERRORS: Mapping[int, type[KubeError]] = {
    400: InvalidError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    422: InvalidError,
    429: UnavailableError,
}

_KIND_NOT_KNOWN_YET = "cannot find RESTMapping"
"""For some seconds after the CRD is installed, a server with OwnerReferencesPermissionEnforcement
forbids whatever a group is to own: it passes by itself, and is nobody's missing right
(https://github.com/kubernetes/kubernetes/blob/master/plugin/pkg/admission/gc/gc_admission.go)."""


class KubeClient:
    """A `Kube` over HTTPS."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @classmethod
    async def connect(cls) -> "KubeClient":
        """A client from the pod's service account, or else from the user's kubeconfig.

        Raises:
            UnavailableError: there is neither.
        """
        configuration = Configuration()
        try:
            try:
                config.load_incluster_config(client_configuration=configuration)
            except config.ConfigException:
                await config.load_kube_config(client_configuration=configuration)
        except config.ConfigException as error:
            message = f"no service account and no usable kubeconfig: {error}"
            raise UnavailableError(0, "NoCluster", message) from error
        return cls(ApiClient(configuration))

    async def close(self) -> None:
        """Let go of every connection."""
        await self._client.close()

    async def get(self, resource: Resource, namespace: str, name: str) -> dict[str, Any]:
        """Read one object, live."""
        return _object(await self._request("GET", _path(resource, namespace, name)))

    async def list(
        self, resource: Resource, *, namespace: str | None = None, labels: str = ""
    ) -> list[dict[str, Any]]:
        """Read every object with these labels, live, page by page."""
        query = {"limit": str(_PAGE)}
        if labels:
            query["labelSelector"] = labels
        items: list[dict[str, Any]] = []
        while True:
            page = _object(await self._request("GET", _path(resource, namespace), query=query))
            items.extend(page["items"])
            more = page["metadata"].get("continue")
            if not more:
                return items
            query["continue"] = more

    async def create(self, resource: Resource, manifest: Manifest) -> dict[str, Any]:
        """Make an object under the very name that its manifest gives."""
        path = _path(resource, manifest["metadata"]["namespace"])
        query = {"fieldManager": names.FIELD_MANAGER}
        return _object(await self._request("POST", path, query=query, body=manifest))

    async def replace(self, resource: Resource, manifest: Manifest) -> dict[str, Any]:
        """Write the whole object over the version that its manifest was read at."""
        metadata = manifest["metadata"]
        path = _path(resource, metadata["namespace"], metadata["name"])
        query = {"fieldManager": names.FIELD_MANAGER}
        return _object(await self._request("PUT", path, query=query, body=manifest))

    async def apply(
        self, resource: Resource, manifest: Manifest, *, manager: str, subresource: str = ""
    ) -> dict[str, Any]:
        """Server-side apply, taking over the fields from whoever else set them."""
        metadata = manifest["metadata"]
        path = _path(resource, metadata["namespace"], metadata["name"], subresource)
        query = {"fieldManager": manager, "force": "true"}
        content_type = "application/apply-patch+yaml"
        return _object(
            await self._request("PATCH", path, query=query, body=manifest, content=content_type)
        )

    async def delete(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        *,
        uid: str,
        grace_seconds: int | None = None,
    ) -> None:
        """Delete that very object; gone already, or another one by now, is no error."""
        body = {
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "preconditions": {"uid": uid},
            **({} if grace_seconds is None else {"gracePeriodSeconds": grace_seconds}),
        }
        try:
            await self._request("DELETE", _path(resource, namespace, name), body=body)
        except (NotFoundError, ConflictError):
            return

    async def log_tail(self, namespace: str, pod: str, container: str, *, previous: bool) -> str:
        """The end of a container's log: of its present life, or of the one before."""
        path = _path(PODS, namespace, pod, "log")
        query = {
            "container": container,
            "previous": str(previous).lower(),
            "tailLines": str(_LOG_LINES),
            "limitBytes": str(_LOG_BYTES),
        }
        return (await self._request("GET", path, query=query)).decode(errors="replace")

    async def _request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Manifest | None = None,
        content: str = "application/json",
    ) -> bytes:
        method, url, headers, sent, _ = await self._client.param_serialize(
            method,
            path,
            query_params=list((query or {}).items()),
            header_params={"Accept": "application/json, */*", "Content-Type": content},
            body=body,
            auth_settings=["BearerToken"],
        )
        try:
            response = await self._client.call_api(
                method, url, headers, sent, _request_timeout=_TIMEOUT_SECONDS
            )
            data = await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            message = f"{method} {path}: {str(error) or type(error).__name__}"
            raise UnavailableError(0, "NoAnswer", message) from error
        if response.status >= _FIRST_ERROR:
            raise _error(response.status, data)
        return bytes(data)


def _object(answer: bytes) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(answer)
    return decoded


def _path(resource: Resource, namespace: str | None, name: str = "", subresource: str = "") -> str:
    root = f"/apis/{resource.group}" if resource.group else "/api"
    parts = [root, resource.version]
    if namespace is not None:
        parts += ["namespaces", namespace]
    parts += [part for part in (resource.plural, name, subresource) if part]
    return "/".join(parts)


def _error(code: int, data: bytes) -> KubeError:
    try:
        status = json.loads(data)
    except ValueError:
        status = {}
    reason = status.get("reason", "")
    message = status.get("message", "") or data.decode(errors="replace")[:512]
    if _KIND_NOT_KNOWN_YET in message:
        return UnavailableError(code, reason, message)
    return _error_class(code, reason)(code, reason, message)


def _error_class(code: int, reason: str) -> type[KubeError]:
    if reason == "AlreadyExists":
        return AlreadyExistsError
    if code >= _FIRST_SERVER_ERROR:
        return UnavailableError
    return _ERRORS.get(code, KubeError)
