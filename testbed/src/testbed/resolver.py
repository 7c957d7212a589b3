"""The service that answers whether SGLang accepts a command line; the simulated engine asks it."""

import importlib.util
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence

from testbed import daemons
from testbed.addresses import HOST, RESOLVER_PORT
from testbed.places import Places
from testbed.progress import Report

# It installs SGLang itself when the cache has none yet.
_READY_SECONDS = 900.0


def start_resolver(*, places: Places, report: Report, versions: Sequence[str]) -> None:
    """The resolver serves these versions of SGLang."""
    if importlib.util.find_spec("sglang_resolver.__main__") is None:
        return
    argv = [sys.executable, "-m", "sglang_resolver"]
    argv += ["--listen", f"{HOST}:{RESOLVER_PORT}", "--versions", ",".join(versions)]
    with report.step(f"starting the SGLang resolver ({', '.join(versions)})"):
        daemon = daemons.start("sglang-resolver", argv, state=places.state)
        daemon.wait_until(resolver_answers, seconds=_READY_SECONDS, what="answer")


def resolver_answers() -> bool:
    """The resolver serves."""
    url = f"http://{HOST}:{RESOLVER_PORT}/healthz"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
