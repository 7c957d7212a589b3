"""One long-lived process that holds one SGLang version, imported and ready."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sglang_resolver import environment
from sglang_resolver.verdict import Verdict

WORKER_SCRIPT = Path(__file__).with_name("worker.py")
ANSWER_TIMEOUT_SECONDS = 180.0


class WorkerFailedError(Exception):
    """The worker ended without an answer; the text ends with what it printed."""


class WarmWorker:
    """Answers for one version; safe to call from many threads.

    The process starts with the first question, which therefore takes tens of seconds, and starts
    again after it has died.
    """

    def __init__(self, version: str, progress: environment.Progress) -> None:
        self.version = version
        self._progress = progress
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._directory = Path(tempfile.mkdtemp(prefix="sglang-resolver-"))

    @property
    def warm(self) -> bool:
        """True when the next answer takes a fraction of a second."""
        return self._process is not None and self._process.poll() is None

    def resolve(self, argv: Sequence[str], *, infiniband: Sequence[str] | None = None) -> Verdict:
        """What SGLang makes of a command line in a container with these InfiniBand devices.

        None means a container without any. Raises WorkerFailedError.
        """
        devices = None if infiniband is None else list(infiniband)
        return Verdict.from_json(self._ask({"argv": list(argv), "infiniband": devices}))

    def options(self) -> list[dict[str, Any]]:
        """Every option of this version's parser. Raises WorkerFailedError."""
        options: list[dict[str, Any]] = self._ask({"describe": True})["options"]
        return options

    def start(self) -> None:
        """Have the process ready. Raises WorkerFailedError and EnvironmentFailedError."""
        with self._lock:
            if self.warm:
                return
            self._end_process()
            python = environment.ensure(self.version, self._progress) / "bin" / "python"
            self._progress(f"sglang {self.version}: importing")
            self._process = self._spawn(python)
            self._progress(f"sglang {self.version}: ready")

    def close(self) -> None:
        """End the process and remove what it left. No question may follow."""
        with self._lock:
            self._end_process()
            shutil.rmtree(self._directory, ignore_errors=True)

    def _end_process(self) -> None:
        """End the process if it lives, and close its pipes."""
        if self._process is not None:
            self._process.terminate()
            self._process.communicate()
            self._process = None

    def _spawn(self, python: Path) -> subprocess.Popen[str]:
        """Start the process and wait until it listens."""
        self._socket.unlink(missing_ok=True)
        with self._log.open("w") as log:
            process = subprocess.Popen(
                # Isolated, so that neither this directory nor the caller's environment can
                # shadow a module of SGLang's environment.
                [str(python), "-I", str(WORKER_SCRIPT), str(self._socket)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=worker_variables(),
            )
        if process.stdout is None or process.stdout.readline().strip() != "ready":
            process.terminate()
            process.communicate()
            raise self._failure("did not start")
        return process

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self.start()
        try:
            line = self._exchange(json.dumps(request))
        except OSError as error:
            self._let_it_die()
            raise self._failure(f"did not answer ({error})") from error
        if not line:
            self._let_it_die()
            raise self._failure("ended without an answer")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _exchange(self, question: str) -> str:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(ANSWER_TIMEOUT_SECONDS)
            connection.connect(str(self._socket))
            with connection.makefile("rw", encoding="utf-8") as stream:
                stream.write(question + "\n")
                stream.flush()
                return stream.readline()

    def _let_it_die(self) -> None:
        """Give a process that is ending time to end, so that the next question starts a new one.

        When only the fork for one question has died, the process stays.
        """
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=1)

    def _failure(self, what: str) -> WorkerFailedError:
        said = self._log.read_text(errors="replace")[-4000:] if self._log.exists() else ""
        return WorkerFailedError(f"the worker for sglang {self.version} {what}\n{said}")

    @property
    def _socket(self) -> Path:
        return self._directory / "worker.sock"

    @property
    def _log(self) -> Path:
        return self._directory / "worker.log"


def worker_variables() -> dict[str, str]:
    """A bare environment: the caller's SGLANG_ variables must not change a verdict."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {**kept, "LANG": "C.UTF-8", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
