"""The words of whoever refused, as reasons."""

from elasticep.api.reasons import Blocked, Engine, ReasonWord
from elasticep.control.client import Refused
from elasticep.kube.port import ForbiddenError, InvalidError, Manifest
from elasticep.world.snapshot import Refusal


def refused_by_api_server(manifest: Manifest, error: ForbiddenError | InvalidError) -> Refusal:
    """A create or an apply that the API server will not do."""
    reason, lasting = _api_reason(error)
    return Refusal(
        subject=f"{manifest['kind']} {manifest['metadata']['name']}",
        reason=reason,
        message=error.message,
        lasting=lasting,
    )


def _api_reason(error: ForbiddenError | InvalidError) -> tuple[ReasonWord, bool]:
    if isinstance(error, InvalidError):
        return Blocked.TEMPLATE_REJECTED, True
    if "exceeded quota" in error.message:
        return Blocked.QUOTA_EXCEEDED, False
    if "being terminated" in error.message:
        return Blocked.NAMESPACE_TERMINATING, False
    if "violates PodSecurity" in error.message:
        return Blocked.POD_SECURITY_VIOLATION, False
    return Blocked.FORBIDDEN, False


def refused_by_name(manifest: Manifest) -> Refusal:
    """A create under a name that an object of somebody else's has."""
    what = manifest["kind"].lower()
    return Refusal(
        subject=f"{manifest['kind']} {manifest['metadata']['name']}",
        reason=Blocked.NAME_CONFLICT,
        message=f"a {what} of that name exists and does not belong to this group",
    )


def refused_by_engine(target: int, answer: Refused) -> Refusal:
    """A scale request that the engine will not take."""
    match answer.code:
        case 401 | 403:
            reason = Engine.UNAUTHORIZED
        case 404:
            reason = Engine.NOT_ELASTIC
        case _:
            reason = Engine.SCALE_REJECTED
    return Refusal(
        by_engine=True,
        subject=f"EP size {target}",
        reason=reason,
        message=f"{answer.code}: {answer.message}",
        lasting=reason == Engine.NOT_ELASTIC,
    )
