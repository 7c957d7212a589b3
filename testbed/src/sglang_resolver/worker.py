"""The real SGLang answers command lines here, one forked process per line.

Runs inside the environment of one SGLang version and imports nothing of ours.
Importing SGLang costs tens of seconds of CPU, so it is imported once; each connection to the
Unix socket then gets a fork, which keeps one line's side effects (environment, logging, caches)
away from the next.

A connection carries one JSON object to the worker and one back, each ended by a newline.
`{"argv": [...], "infiniband": [...] | null}` asks for a verdict, `{"describe": true}` for the
options of the parser.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

MODEL_DIRECTORY = Path(__file__).parent / "model"
INFINIBAND = "/sys/class/infiniband"
LINE_TIMEOUT_SECONDS = 120
WARM_UP_LINE = ["--model-path", "warm-up"]


def main() -> None:
    """Serve the socket named by the first argument until standard input closes."""
    end_with_standard_input()
    import_sglang()
    import_what_resolution_imports()
    # A collection in a fork would touch, and so copy, every page of the imported modules.
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(sys.argv[1])
    listener.listen(64)
    print("ready", flush=True)
    while True:
        connection, _ = listener.accept()
        with connection:
            if os.fork() == 0:
                listener.close()
                answer_and_exit(connection)


def end_with_standard_input() -> None:
    """End this process when its standard input closes, that is when its starter is gone.

    A fork watches, not a thread: forks of a threaded process can inherit held locks.
    """
    worker = os.getpid()
    if os.fork():
        return
    sys.stdin.buffer.read()
    with contextlib.suppress(ProcessLookupError):
        os.kill(worker, signal.SIGTERM)
    os._exit(0)


def import_sglang() -> None:
    """Import what every command line needs, quietly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importlib.import_module("sglang.srt.server_args")
        importlib.import_module("sglang.srt.arg_groups.validation_hook")
        importlib.import_module("sglang.srt.plugins").load_plugins()


def import_what_resolution_imports() -> None:
    """Import the modules that the resolution itself imports late.

    A resolution in this process would leave its side effects to every fork, so a fork runs one
    and reports the names only.
    """
    reader, writer = os.pipe()
    if os.fork() == 0:
        run_captured(lambda: resolve(WARM_UP_LINE))
        with os.fdopen(writer, "w") as pipe:
            pipe.write("\n".join(sys.modules))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        names = pipe.read().split("\n")
    os.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            # Some names are aliases that only a lazy module can make.
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


def answer_and_exit(connection: socket.socket) -> None:
    """Answer one connection, then end the forked process."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.alarm(LINE_TIMEOUT_SECONDS)
    with connection.makefile("rw", encoding="utf-8") as stream:
        request = json.loads(stream.readline())
        answer = describe() if request.get("describe") else judge(request)
        stream.write(json.dumps(answer, default=str) + "\n")
    os._exit(0)


def judge(request: dict[str, Any]) -> dict[str, Any]:
    """Say what `python3 -m sglang.launch_server ARGV` would print and exit with."""
    with infiniband_devices(request.get("infiniband")) as restore_path:
        exit_code, output, resolved = run_captured(lambda: resolve(request["argv"]))
    return {"exit_code": exit_code, "output": restore_path(output), "resolved": resolved}


def resolve(argv: list[str]) -> dict[str, Any]:
    """Resolve a command line as the launcher does, up to where it would start processes."""
    server_args_module = importlib.import_module("sglang.srt.server_args")
    keep_off_the_machine(server_args_module.ServerArgs)
    server_args = server_args_module.prepare_server_args(argv)
    server_args.resolve_once()
    server_args.check_server_args()
    resolved: dict[str, Any] = server_args.resolved_dict()
    return resolved


def keep_off_the_machine(server_args_class: Any) -> None:
    """Give the parsed line a model and a device that this machine lacks.

    The parser sees the line as it is; what changes is the parsed result: the model's directory,
    the device that a GPU node would detect, and no tokenizer, since there are no weights here.
    """
    original = server_args_class.from_cli_args.__func__

    def from_cli_args(cls: Any, namespace: argparse.Namespace) -> Any:
        namespace.served_model_name = namespace.served_model_name or namespace.model_path
        namespace.model_path = str(MODEL_DIRECTORY)
        namespace.device = namespace.device or "cuda"
        namespace.skip_tokenizer_init = True
        return original(cls, namespace)

    server_args_class.from_cli_args = classmethod(from_cli_args)


@contextlib.contextmanager
def infiniband_devices(names: list[str] | None) -> Any:
    """Let SGLang's device check see the given device names, or no InfiniBand at all for None.

    The check holds its path as a constant; only that constant is replaced. Yields a function
    that puts the real path back into a text.
    """
    module = importlib.import_module("sglang.srt.arg_groups.validation_hook")
    code = module.validate_ib_devices.__code__
    if INFINIBAND not in code.co_consts:
        raise RuntimeError(f"{INFINIBAND} is not where this SGLang version checks devices")
    directory = tempfile.mkdtemp()
    path = str(Path(directory, "infiniband"))
    if names is not None:
        for name in names:
            Path(path, name).mkdir(parents=True)
    constants = tuple(path if constant == INFINIBAND else constant for constant in code.co_consts)
    module.validate_ib_devices.__code__ = code.replace(co_consts=constants)
    try:
        yield lambda text: text.replace(path, INFINIBAND)
    finally:
        shutil.rmtree(directory)


def run_captured(
    action: Callable[[], dict[str, Any]],
) -> tuple[int, str, dict[str, Any] | None]:
    """Run the action as a process of its own would: exit code, all it printed, its result."""
    result = None
    with tempfile.TemporaryFile("w+", errors="replace") as capture:
        os.dup2(capture.fileno(), 1)
        os.dup2(capture.fileno(), 2)
        exit_code = 0
        try:
            result = action()
        except SystemExit as stop:
            exit_code = exit_code_of(stop)
        except BaseException as error:  # whatever ends the engine is its verdict
            exit_code = 1
            print_traceback(error)
        sys.stdout.flush()
        sys.stderr.flush()
        capture.seek(0)
        return exit_code, capture.read(), result


def exit_code_of(stop: SystemExit) -> int:
    """The interpreter's rule: None is 0, a number is itself, a text is printed and gives 1."""
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code
    print(stop.code, file=sys.stderr)
    return 1


def print_traceback(error: BaseException) -> None:
    """Print the traceback without the frames of this file."""
    frames: types.TracebackType | None = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    traceback.print_exception(type(error), error, frames)


def describe() -> dict[str, Any]:
    """The options of the parser: spellings, destination, whether it takes values, choices."""
    parser = argparse.ArgumentParser()
    importlib.import_module("sglang.srt.server_args").ServerArgs.add_cli_args(parser)
    return {
        "options": [
            {
                "spellings": list(action.option_strings),
                "destination": action.dest,
                "nargs": action.nargs,
                "choices": [str(choice) for choice in action.choices] if action.choices else None,
                "type": getattr(action.type, "__name__", None),
                "default": action.default,
            }
            for action in parser._actions  # noqa: SLF001 - argparse offers no other way to list
        ]
    }


if __name__ == "__main__":
    main()
