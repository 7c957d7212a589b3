"""Asks the resolver service; needs the standard library only."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Sequence

from sglang_resolver.verdict import Verdict

# The first question may wait for an installation and an import.
TIMEOUT_SECONDS = 900.0


class ResolverUnavailableError(Exception):
    """The service gave no verdict; the text says what happened."""


def resolve(
    base_url: str, version: str, argv: Sequence[str], *, infiniband: Sequence[str] | None = None
) -> Verdict:
    """What SGLang of this version makes of a command line. Raises ResolverUnavailableError."""
    devices = None if infiniband is None else list(infiniband)
    question = {"version": version, "argv": list(argv), "infiniband": devices}
    request = urllib.request.Request(  # noqa: S310 - the caller names the service
        f"{base_url.rstrip('/')}/resolve",
        data=json.dumps(question).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310
            return Verdict.from_json(json.load(answer))
    except urllib.error.HTTPError as error:
        text = error.read().decode(errors="replace")
        raise ResolverUnavailableError(f"{base_url} answered {error.code}: {text}") from error
    except OSError as error:
        raise ResolverUnavailableError(f"{base_url} did not answer: {error}") from error
