"""Run one simulated engine; the arguments are those of `python -m sglang.launch_server`."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from simengine.arguments import EngineArguments, Refusal, ResolverError, resolve
from simengine.fault_plan import FaultPlan
from simengine.faults import Identity
from simengine.joiner import Joiner
from simengine.leader import Leader
from simengine.process import count_start
from simengine.settings import Settings, SettingsError

BAD_SIMULATION = 70

logger = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> int:
    """Run until the process is told to end; returns its exit code."""
    logging.basicConfig(
        level=logging.INFO,
        stream=sys.stderr,
        format="[%(asctime)s] %(message)s",
        datefmt="%Y-%m-%d %H:%M:%S",
    )
    try:
        settings = Settings.from_environment(os.environ)
        return asyncio.run(_run(list(sys.argv[1:] if argv is None else argv), settings))
    except (SettingsError, ResolverError) as error:
        logger.error("simulated engine: %s", error)  # noqa: TRY400  (the text says it all)
        return BAD_SIMULATION


async def _run(argv: Sequence[str], settings: Settings) -> int:
    if settings.sigterm == "prompt":
        signal.signal(signal.SIGTERM, _leave_at_once)
    arguments = await resolve(argv, settings=settings)
    if isinstance(arguments, Refusal):
        sys.stderr.write(arguments.output)
        return arguments.exit_code
    who = Identity(
        role="joiner" if arguments.ep_join_mode else "leader",
        offset=arguments.ep_join_rank_offset,
        start=count_start(settings.state_dir),
    )
    return await _live(arguments, settings, FaultPlan(who=who, initial=settings.faults))


async def _live(arguments: EngineArguments, settings: Settings, plan: FaultPlan) -> int:
    settings = settings.model_copy(update=plan.timing)
    logger.info(
        "simulated SGLang %s: role=%s offset=%d tp_size=%d start=%d",
        settings.version,
        plan.who.role,
        plan.who.offset,
        arguments.tp_size,
        plan.who.start,
    )
    if arguments.ep_join_mode:
        await Joiner(arguments=arguments, settings=settings, plan=plan).run()
    return await Leader(arguments=arguments, settings=settings, plan=plan).run()


def _leave_at_once(*_: object) -> NoReturn:
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
