"""Why a pod is not running yet, in words that anybody may read."""

import pytest
from tests.plan import world

from elasticep.plan.waiting import why_waiting
from elasticep.world.pods import Container, Exit


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("\n \n", "it left no message"),
        ("", "it left no message"),
        ("starting\ncannot open model", "cannot open model"),
        ("refused --api-key=hunter2", "refused --api-key=***"),
    ],
)
def test_the_last_words_of_a_crash_are_told_without_secrets(message: str, told: str) -> None:
    container = Container(
        name="engine", waiting_reason="CrashLoopBackOff", last_exit=Exit(code=1, message=message)
    )

    reason = why_waiting(world.leader(ready=False, containers=(container,)))

    assert reason.word == "LeaderCrashLoop"
    assert reason.message.endswith(f"has exited, last with code 1: {told}")
