"""How engines end: refused, crashed, hung, terminated."""

from __future__ import annotations

import http.client
import json
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.simengine.conftest import Launcher, until


def test_refused_command_line_ends_with_the_real_text_and_code(launch: Launcher) -> None:
    engine = launch.start("--refuse")
    assert engine.ends() == 1
    assert engine.output == "AssertionError: Elastic EP requires CUDA graphs to be disabled\n"


def test_bad_setting_ends_the_simulation_with_a_code_of_its_own(launch: Launcher) -> None:
    engine = launch.start("--tp-size", "1", LOAD_SECONDS="soon")
    assert engine.ends() == 70
    assert "ELASTICEP_SIM_LOAD_SECONDS: Input should be a valid number" in engine.output


def test_crash_with_an_exit_code_leaves_the_known_text_last(launch: Launcher) -> None:
    fault = {"do": "crash", "stage": "load", "signature": "cuda_out_of_memory", "exitCode": 1}
    leader = launch.start("--tp-size", "4", FAULTS=json.dumps([fault]))
    assert leader.ends() == 1
    assert "CUDA out of memory" in leader.output.splitlines()[-1]


def test_crash_like_the_engine_is_a_kill_outside_a_container(launch: Launcher) -> None:
    fault = {"do": "crash", "stage": "start", "log": "RuntimeError: boom"}
    leader = launch.start("--tp-size", "4", FAULTS=json.dumps([fault]))
    assert leader.ends() == -signal.SIGKILL
    assert "Scheduler hit an exception" in leader.output
    assert "RuntimeError: boom" in leader.output


def test_crash_in_the_first_starts_of_a_pod_only(launch: Launcher) -> None:
    fault = {"do": "crash", "stage": "start", "exitCode": 3, "when": {"firstStarts": 2}}
    pod = {"FAULTS": json.dumps([fault]), "STATE_DIR": str(launch.directory / "pod")}
    for _ in range(2):
        assert launch.start("--tp-size", "4", **pod).ends() == 3
    third = launch.start("--tp-size", "4", **pod)
    until(lambda: "ready to roll" in third.output, "the third start serves")


def test_crash_strikes_the_joiner_it_is_meant_for(launch: Launcher) -> None:
    leader = launch.leader()
    when = {"role": "joiner", "offset": 4, "firstAttempts": 1}
    leader.fault(do="crash", stage="register", exitCode=5, log="boom", when=when)
    assert launch.joiner(offset=4).ends() == 5
    launch.joiner(offset=4)
    leader.scale(6)
    until(lambda: leader.serves(6), "the second attempt joins")
    assert leader.state["attempts"] == {"4": 2}


def test_crash_of_a_serving_leader_on_demand(launch: Launcher) -> None:
    leader = launch.leader()
    leader.fault(do="crash", stage="serving", exitCode=137)
    assert leader.ends() == 137


def test_joiner_that_hangs_in_an_admission_blocks_the_leader_until_it_is_dropped(
    launch: Launcher,
) -> None:
    leader = launch.leader(HEARTBEAT_SECONDS="0.6")
    fault = {"do": "hang", "stage": "join", "when": {"role": "joiner"}}
    launch.joiner(offset=4, FAULTS=json.dumps([fault]))
    leader.scale(6)
    until(lambda: leader.serves(6), "the admission ends without the joiner")
    assert leader.state["lost_ranks"] == [4, 5]


def test_serving_leader_finishes_its_requests_before_it_leaves(launch: Launcher) -> None:
    leader = launch.leader(TOKEN_SECONDS="0.05")
    with ThreadPoolExecutor(1) as clients:
        wish = {"prompt": "x", "max_tokens": 10}
        answer = clients.submit(leader.post, "/v1/completions", wish)
        until(lambda: leader.state["running"] == 1, "the request runs")
        leader.process.terminate()
        until(lambda: "SIGTERM received" in leader.output, "the signal is seen")
        assert leader.get("/health").status == 503
        assert answer.result().json["usage"]["completion_tokens"] == 10
    assert leader.ends() == 0


def test_leaving_leader_finishes_the_requests_of_joined_ranks_too(launch: Launcher) -> None:
    leader = launch.leader(TOKEN_SECONDS="0.02")
    launch.joiner(offset=4)
    leader.scale(6)
    until(lambda: leader.serves(6), "the group grows")
    with ThreadPoolExecutor(6) as clients:
        wish = {"prompt": "x", "max_tokens": 25}
        answers = [clients.submit(leader.post, "/v1/completions", wish) for _ in range(6)]
        until(lambda: leader.state["running"] == 6, "every rank has a request")
        leader.process.terminate()
        assert [answer.result().status for answer in answers] == [200] * 6
    assert leader.ends() == 0


def test_request_that_comes_after_the_last_one_was_counted_is_lost(launch: Launcher) -> None:
    leader = launch.leader(SCHEDULER_EXIT_SECONDS="1")
    leader.process.terminate()
    until(lambda: "Remaining number of requests 0" in leader.output, "the leader leaves")
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        leader.one_token()
    assert leader.ends() == 0


@pytest.mark.parametrize(("manner", "code"), [("engine", -signal.SIGTERM), ("prompt", 0)])
def test_joiner_has_no_manners_of_its_own_for_sigterm(
    launch: Launcher, manner: str, code: int
) -> None:
    leader = launch.leader()
    joiner = launch.joiner(offset=4, SIGTERM=manner)
    until(lambda: leader.state["registrations"], "the joiner registers")
    joiner.process.terminate()
    assert joiner.ends() == code


def test_first_process_of_a_container_exits_zero_when_the_engine_crashes(
    launch: Launcher,
) -> None:
    """The kernel ignores a SIGKILL that the first process of a PID namespace sends to itself."""
    fault = {"do": "crash", "stage": "load", "log": "RuntimeError: boom"}
    engine = launch.start(
        "--tp-size",
        "4",
        within=("unshare", "--map-root-user", "--pid", "--fork"),
        FAULTS=json.dumps([fault]),
    )
    assert engine.ends() == 0
    assert "RuntimeError: boom" in engine.output
