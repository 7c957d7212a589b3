"""The words of whoever refused, as reasons."""

from elasticep.control.client import Refused
from elasticep.kube.port import ForbiddenError, InvalidError, Manifest
from elasticep.world.snapshot import Refusal


def refused_by_api_server(
    action: str, manifest: Manifest, error: ForbiddenError | InvalidError
) -> Refusal:
    """A create or an apply that the API server will not do."""
    reason, lasting = _api_reason(error)
    return Refusal(
        action=action,
        subject=f"{manifest['kind']} {manifest['metadata']['name']}",
        reason=reason,
        message=error.message,
        lasting=lasting,
    )


def _api_reason(error: ForbiddenError | InvalidError) -> tuple[str, bool]:
    if isinstance(error, InvalidError):
        return "TemplateRejected", True
    if "exceeded quota" in error.message:
        return "QuotaExceeded", False
    if "being terminated" in error.message:
        return "NamespaceTerminating", False
    if "violates PodSecurity" in error.message:
        return "PodSecurityViolation", False
    return "Forbidden", False


def refused_by_engine(target: int, answer: Refused) -> Refusal:
    """A scale request that the engine will not take."""
    match answer.code:
        case 401 | 403:
            reason = "EngineUnauthorized"
        case 404:
            reason = "NotElastic"
        case _:
            reason = "ScaleRejected"
    return Refusal(
        action="RequestScale",
        subject=f"EP size {target}",
        reason=reason,
        message=f"{answer.code}: {answer.message}",
        lasting=reason == "NotElastic",
    )
