"""The two who judge a group: the API server, and we without one."""

from typing import Any

from tests.api.conftest import ApiServer

from elasticep.schema.verdict import findings


def said_by_server(apiserver: ApiServer, manifest: dict[str, Any]) -> set[tuple[str, str]]:
    """What the API server has against a group, but for remarks about its own workings.

    `<nil>` stands where it says that it left rules out, `.spec` where the scale subresource
    stumbles over what has been said of `spec` already.
    """
    refusal = apiserver.judge(manifest)
    if refusal is None:
        return set()
    assert refusal.causes, refusal.message
    return {
        (field, message)
        for field, message in refusal.causes
        if not field.startswith((".spec", "<nil>"))
    }


def said_by_lint(manifest: dict[str, Any]) -> set[tuple[str, str]]:
    return {(found.field, found.message) for found in findings(manifest)}
