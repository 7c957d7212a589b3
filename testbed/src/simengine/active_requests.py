"""HTTP requests that are being answered, whichever rank works on them.

SGLang counts them around its whole application, the body of a streamed answer included
(`sglang:http_requests_active`: `add_prometheus_track_response_middleware` in `srt/utils/common.py`
of SGLang 0.5.19 to 0.5.22, `srt/observability/http_request_metrics.py` of 0.5.23).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable

from aiohttp import web

GENERATING = ("/generate", "/v1/completions")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class ActiveRequests:
    """Counts by endpoint and method."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    @property
    def generating(self) -> int:
        """How many of them want tokens."""
        return sum(count for (path, _), count in self._counts.items() if path in GENERATING)

    @web.middleware
    async def count(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Count a request for as long as it takes."""
        key = (request.path, request.method)
        self._counts[key] += 1
        try:
            return await handler(request)
        finally:
            self._counts[key] -= 1

    def render(self) -> str:
        """The gauge in Prometheus' text format."""
        name = "sglang:http_requests_active"
        lines = [
            f"# HELP {name} Number of currently active HTTP requests",
            f"# TYPE {name} gauge",
        ]
        lines += [
            f'{name}{{endpoint="{path}",method="{method}"}} {float(count)}'
            for (path, method), count in sorted(self._counts.items())
        ]
        return "\n".join([*lines, ""])
