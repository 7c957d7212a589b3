"""Which trouble an answer of the API server is."""

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from kubernetes.aio.client import ApiClient, Configuration

from elasticep.kube.client import KubeClient
from elasticep.kube.port import (
    PODS,
    AlreadyExistsError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    KubeError,
    NotFoundError,
    UnavailableError,
)

UNKNOWN_KIND = (
    'secrets "lite-admin-key" is forbidden: cannot set blockOwnerDeletion in this case because '
    "cannot find RESTMapping for APIVersion elasticep.dev/v1alpha1 Kind ElasticEPGroup"
)


@pytest.mark.parametrize(
    ("code", "reason", "message", "trouble"),
    [
        (403, "Forbidden", "pods is forbidden: User cannot create", ForbiddenError),
        (403, "Forbidden", UNKNOWN_KIND, UnavailableError),
        (404, "NotFound", "not found", NotFoundError),
        (409, "Conflict", "modified", ConflictError),
        (409, "AlreadyExists", "exists", AlreadyExistsError),
        (422, "Invalid", "is invalid", InvalidError),
        (429, "TooManyRequests", "slow down", UnavailableError),
        (503, "ServiceUnavailable", "starting", UnavailableError),
    ],
)
async def test_each_refusal_is_what_it_means_for_us(
    code: int, reason: str, message: str, trouble: type[KubeError]
) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"reason": reason, "message": message}, status=code)

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(application) as server:
        kube = KubeClient(ApiClient(Configuration(host=str(server.make_url("/")).rstrip("/"))))
        try:
            with pytest.raises(KubeError) as caught:
                await kube.get(PODS, "team", "lite")
        finally:
            await kube.close()

    assert type(caught.value) is trouble
