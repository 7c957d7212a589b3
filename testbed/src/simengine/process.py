"""How an engine process ends, and where it stops on its way there."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import NoReturn

from simengine.fault_plan import FaultPlan
from simengine.faults import Crash, Hang, Stage
from simengine.signatures import TEXTS

logger = logging.getLogger(__name__)

OUT_OF_MEMORY_EXIT = 128 + signal.SIGKILL
MEMORY_LIMIT_FILES = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
LARGEST_LIMIT_TO_FILL = 4 << 30
CHUNK_BYTES = 16 << 20


def die_like_the_engine(error: str) -> NoReturn:
    """End as SGLang does when a scheduler process fails.

    The scheduler prints its traceback and sends SIGQUIT to its parent; the parent kills itself and
    then calls exit(0).
    The kernel ignores SIGKILL that the first process of a PID namespace sends to itself, so in a
    container the exit code is 0; elsewhere the process dies by SIGKILL.
    Source: `kill_process_tree` in SGLang's `srt/utils/common.py`.
    """
    logger.error("Scheduler hit an exception: Traceback (most recent call last):\n%s\n", error)
    logger.error("Received sigquit from a child process. It usually means the child failed.")
    _flush()
    os.kill(os.getpid(), signal.SIGKILL)
    os._exit(0)


def leave(exit_code: int) -> NoReturn:
    """End at once with an exit code; nothing is cleaned up."""
    _flush()
    os._exit(exit_code)


def _flush() -> None:
    logging.shutdown()
    sys.stderr.flush()
    sys.stdout.flush()


async def reach(stage: Stage, plan: FaultPlan) -> None:
    """Come to a stage of the process's life; a fault may crash or stop the process there."""
    fault = plan.at_stage(stage)
    if fault is None:
        return
    await asyncio.sleep(fault.after_seconds)
    match fault:
        case Hang():
            logger.warning("[sim] hanging at stage %s", stage)
            hang()
        case Crash():
            crash(fault)


def hang() -> NoReturn:
    """Block the whole process, so that its connections stay open and nothing answers."""
    while True:
        time.sleep(3600)


def crash(fault: Crash) -> NoReturn:
    """End as a fault says."""
    text = fault.log or (TEXTS[fault.signature] if fault.signature else "RuntimeError: injected")
    if fault.exhaust_memory:
        logger.info(text)
        _fill_memory()
    if fault.exit_code is None:
        die_like_the_engine(text)
    logger.error("%s", text)
    leave(fault.exit_code)


def _fill_memory() -> NoReturn:
    """Allocate until the kernel kills the process; without a small limit only pretend to."""
    limit = _memory_limit()
    hoard: list[bytearray] = []
    while limit is not None and len(hoard) * CHUNK_BYTES < 2 * limit:
        hoard.append(bytearray(os.urandom(1)) * CHUNK_BYTES)
    leave(OUT_OF_MEMORY_EXIT)


def _memory_limit() -> int | None:
    for path in MEMORY_LIMIT_FILES:
        text = path.read_text().strip() if path.exists() else ""
        if text.isdecimal() and int(text) <= LARGEST_LIMIT_TO_FILL:
            return int(text)
    return None


def count_start(state_dir: Path) -> int:
    """Number of times that this pod has started the engine's container, this one included.

    The count is kept on a volume that outlives the container and dies with the pod.
    """
    counter = state_dir / "starts"
    state_dir.mkdir(parents=True, exist_ok=True)
    starts = int(counter.read_text()) + 1 if counter.exists() else 1
    counter.write_text(str(starts))
    return starts


def seconds_since_start() -> float:
    """Age of this process, the interpreter's own start included."""
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    uptime = float(Path("/proc/uptime").read_text().split()[0])
    return max(0.0, uptime - ticks / os.sysconf("SC_CLK_TCK"))
