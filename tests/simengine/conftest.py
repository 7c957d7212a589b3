"""Simulated engines as real processes over loopback, judged by a stand-in for the resolver."""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 20.0

QUICK = {
    "LOAD_SECONDS": "0.05",
    "CONNECT_SECONDS": "0.05",
    "JOIN_SECONDS": "0.1",
    "TOKEN_SECONDS": "0.005",
    "HEALTH_POLL_SECONDS": "0.05",
    "HEALTH_TIMEOUT_SECONDS": "1",
    "SIGTERM_POLL_SECONDS": "0.05",
    "SCHEDULER_EXIT_SECONDS": "0.01",
}


class Resolver(BaseHTTPRequestHandler):
    """Takes a few flags at their word, and refuses a command line that says --refuse."""

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        parser = argparse.ArgumentParser()
        for flag in ("--port", "--tp-size", "--max-ep-size", "--elastic-ep-join-rank-offset"):
            parser.add_argument(flag, type=int)
        parser.add_argument("--elastic-ep-scale-timeout", type=float, default=600.0)
        parser.add_argument("--elastic-ep-join-mode", dest="ep_join_mode")
        for flag in ("--dist-init-addr", "--api-key", "--admin-api-key", "--elastic-ep-backend"):
            parser.add_argument(flag)
        parser.add_argument("--refuse", action="store_true")
        resolved = vars(parser.parse_args(question["argv"]))
        resolved["ep_join_rank_offset"] = resolved.pop("elastic_ep_join_rank_offset") or 0
        refused = resolved.pop("refuse")
        verdict = {
            "accepted": not refused,
            "exit_code": int(refused),
            "output": "AssertionError: Elastic EP requires CUDA graphs to be disabled\n" * refused,
            "resolved": None if refused else resolved | FIXED,
        }
        body = json.dumps(verdict).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep the test's output to the engines."""


FIXED = {"host": "127.0.0.1", "model_path": "/stand-in", "served_model_name": "deepseek-v2-lite"}
FIXED |= {"enable_metrics": True}  # type: ignore[dict-item]


@pytest.fixture(scope="session")
def resolver() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Resolver)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def until(true: Callable[[], object], what: str) -> None:
    """Wait until something holds, and say what did not."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.02)


@dataclass
class Answer:
    status: int
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass
class Engine:
    """One engine process."""

    process: subprocess.Popen[bytes]
    log: Path
    port: int

    @property
    def output(self) -> str:
        return self.log.read_text()

    def ends(self) -> int:
        return self.process.wait(PATIENCE)

    def call(
        self, method: str, path: str, body: object = None, *, key: str | None = None
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        with contextlib.closing(connection):
            connection.request(method, path, data, headers)
            response = connection.getresponse()
            return Answer(response.status, response.read().decode())

    def get(self, path: str, *, key: str | None = None) -> Answer:
        return self.call("GET", path, key=key)

    def post(self, path: str, body: object, *, key: str | None = None) -> Answer:
        return self.call("POST", path, body, key=key)

    def scale(self, size: object) -> Answer:
        return self.post("/scale_elastic_ep", {"new_ep_size": size})

    def one_token(self) -> Answer:
        """The smallest request, which is one forward pass."""
        return self.post("/v1/completions", {"prompt": "hi", "max_tokens": 1})

    @property
    def status(self) -> Any:
        return self.get("/is_scaling_elastic_ep").json

    @property
    def state(self) -> Any:
        return self.get("/sim/state").json

    def fault(self, **fault: object) -> None:
        answer = self.post("/sim/faults", [fault])
        assert answer.status == 200, answer.text

    def is_up(self) -> bool:
        assert self.process.poll() is None, self.output
        with contextlib.suppress(ConnectionError):
            return self.get("/health").status == 200
        return False

    def serves(self, size: int) -> bool:
        """Whether the group serves with this size; asking drives it there."""
        self.one_token()
        return bool(self.status["effective_ep_size"] == size)


@dataclass
class Launcher:
    """Starts the engines of one group, and ends what the test left running."""

    resolver: str
    directory: Path
    dist_port: int
    engines: list[Engine] = field(default_factory=list)

    def start(self, *flags: str, within: tuple[str, ...] = (), **environment: str) -> Engine:
        name = f"engine-{len(self.engines)}"
        port = free_port()
        command = [*within, sys.executable, "-m", "simengine", "--port", str(port), *flags]
        settings = QUICK | {"STATE_DIR": str(self.directory / name)} | environment
        given = {f"ELASTICEP_SIM_{key}": value for key, value in settings.items()}
        given |= {"ELASTICEP_SIM_RESOLVER": self.resolver, "ELASTICEP_SIM_VERSION": "0.5.19"}
        log = self.directory / f"{name}.log"
        with log.open("wb") as sink:
            process = subprocess.Popen(command, env=os.environ | given, stderr=sink)
        engine = Engine(process, log, port)
        self.engines.append(engine)
        return engine

    def leader(self, *flags: str, size: int = 4, **environment: str) -> Engine:
        engine = self.start(*self._group(size), *flags, **environment)
        until(engine.is_up, "the leader serves")
        return engine

    def joiner(self, *flags: str, offset: int, ranks: int = 2, **environment: str) -> Engine:
        mode = () if "--elastic-ep-join-mode" in flags else ("--elastic-ep-join-mode", "scale")
        joining = (*mode, "--elastic-ep-join-rank-offset", str(offset))
        return self.start(*self._group(ranks), *joining, *flags, **environment)

    def _group(self, size: int) -> tuple[str, ...]:
        address = f"127.0.0.1:{self.dist_port}"
        elastic = ("--elastic-ep-backend", "mooncake", "--max-ep-size", "8")
        return ("--tp-size", str(size), "--dist-init-addr", address, *elastic)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def launch(resolver: str, tmp_path: Path) -> Iterator[Launcher]:
    launcher = Launcher(resolver, tmp_path, free_port())
    yield launcher
    for engine in launcher.engines:
        engine.process.kill()
        engine.process.wait()


@pytest.fixture(scope="module")
def lone_leader(resolver: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """One leader without keys, for questions that leave no trace."""
    launcher = Launcher(resolver, tmp_path_factory.mktemp("lone"), free_port())
    engine = launcher.leader()
    yield engine
    engine.process.kill()
    engine.process.wait()
