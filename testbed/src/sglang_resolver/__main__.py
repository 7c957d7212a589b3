"""`python -m sglang_resolver --listen HOST:PORT --versions 0.5.19,0.5.23` runs the service."""

from __future__ import annotations

import argparse

from aiohttp import web

from sglang_resolver.service import application
from sglang_resolver.warm_worker import WarmWorker


def main() -> None:
    """Run the service until it is interrupted or terminated."""
    parser = argparse.ArgumentParser(prog="sglang_resolver", description=__doc__)
    parser.add_argument("--listen", default="127.0.0.1:8399", metavar="HOST:PORT")
    parser.add_argument("--versions", default="0.5.19", metavar="VERSION[,VERSION...]")
    arguments = parser.parse_args()
    host, _, port = arguments.listen.rpartition(":")
    workers = {version: WarmWorker(version, progress) for version in arguments.versions.split(",")}
    web.run_app(application(workers), host=host, port=int(port), print=progress)


def progress(line: str) -> None:
    """Print a line at once, since the output is usually a log file."""
    print(line, flush=True)


if __name__ == "__main__":
    main()
