"""Who may call which route: SGLang's rules for `--api-key` and `--admin-api-key`.

Source: `decide_request_auth` in SGLang's `srt/utils/auth.py`.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

OPEN_PREFIXES = ("/health", "/ready", "/metrics")
ADMIN_PATHS = frozenset({"/scale_elastic_ep", "/is_scaling_elastic_ep"})
SIMULATION_PREFIX = "/sim/"


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The keys of one server; None means that it was not given."""

    api: str | None = None
    admin: str | None = None

    def allow(self, *, method: str, path: str, authorization: str | None) -> bool:
        """Whether a request with this Authorization header may pass.

        Health and metrics are open to all, and so are the simulation's own routes.
        The scale routes want the admin key where there is one, else the API key where there is
        one; the API key does not open them once an admin key is set.
        """
        if method == "OPTIONS" or path.startswith((*OPEN_PREFIXES, SIMULATION_PREFIX)):
            return True
        wanted = (self.admin or self.api) if path in ADMIN_PATHS else self.api
        return wanted is None or _bears(authorization, wanted)


def _bears(authorization: str | None, wanted: str) -> bool:
    scheme, _, token = (authorization or "").partition(" ")
    return scheme.lower() == "bearer" and secrets.compare_digest(token.encode(), wanted.encode())
