"""Sees objects change the moment they do, in threads that end with the process."""

import json
import queue
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from testbed.api import Api

_AGAIN_SECONDS = 0.5


@dataclass(frozen=True, kw_only=True)
class Change:
    """One object as it is now; `at` is when we heard, in seconds since the epoch."""

    path: str
    type: str
    object: dict[str, Any]
    at: float


def watch(api: Api, paths: Sequence[str]) -> "queue.Queue[Change]":
    """Every change below these list paths, what exists already first."""
    changes: queue.Queue[Change] = queue.Queue()
    for path in paths:
        threading.Thread(target=_follow, args=(api, path, changes), daemon=True).start()
    return changes


def _follow(api: Api, path: str, changes: "queue.Queue[Change]") -> None:
    sign = "&" if "?" in path else "?"
    request = urllib.request.Request(  # noqa: S310 - always https, to the testbed's API server
        f"{api.server}{path}{sign}watch=true", headers={"Authorization": f"Bearer {api.token}"}
    )
    # A proxy of the environment is not asked: the server is on this machine.
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=api.trust)
    )
    while True:
        try:
            with opener.open(request) as stream:
                for line in stream:
                    event = json.loads(line)
                    changes.put(
                        Change(
                            path=path, type=event["type"], object=event["object"], at=time.time()
                        )
                    )
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(_AGAIN_SECONDS)
