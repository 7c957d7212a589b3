"""Asks what runs in the cluster over HTTP, from this machine."""

import urllib.error
import urllib.request

from demo.diagnosis import DemoError

# A proxy of the environment is not asked: everything asked for is on this machine.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def ask(url: str, *, body: str | None = None, seconds: float = 30.0) -> str:
    """The answer's body; with a body of one's own it is a POST of JSON.

    Raises DemoError when there is no good answer.
    """
    request = urllib.request.Request(  # noqa: S310 - always http, to an address of the testbed
        url,
        data=body.encode() if body is not None else None,
        headers={"Content-Type": "application/json"},
    )
    try:
        with _OPENER.open(request, timeout=seconds) as answer:
            text: bytes = answer.read()
    except urllib.error.HTTPError as error:
        said = error.read().decode(errors="replace")
        raise DemoError(f"{url} answered {error.code}: {said}") from error
    except OSError as error:
        raise DemoError(f"{url} gave no answer: {error}") from error
    return text.decode()
