"""Groups of real processes grow, fail to grow, and break."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from tests.simengine.conftest import Engine, Launcher, until


def test_group_grows_twice_under_traffic_and_keeps_every_answer(launch: Launcher) -> None:
    leader = launch.leader()
    failures: list[str] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            answer = leader.post("/v1/completions", {"prompt": "x", "max_tokens": 3})
            if answer.status != 200:
                failures.append(answer.text)

    client = threading.Thread(target=ask)
    client.start()
    for size in (6, 8):
        launch.joiner(offset=size - 2)
        until(lambda: str(size - 2) in leader.state["registrations"], "the joiner registers")  # noqa: B023
        assert leader.scale(size).json["new_ep_size"] == size
        until(lambda: leader.status["effective_ep_size"] == size, f"size {size}")  # noqa: B023
    stop.set()
    client.join()
    assert failures == []
    assert leader.status["scale_phase"] == "serving_expanded"
    for operation in leader.get("/sim/operations").json["operations"]:
        assert operation["accepted_at"] <= operation["completed_at"]
        assert operation["load_seconds"] > 0.05
        assert 0.15 <= operation["join_seconds"] < operation["completed_at"]


def test_joiner_is_healthy_only_once_it_is_admitted(launch: Launcher) -> None:
    leader = launch.leader()
    joiner = launch.joiner(offset=4)
    until(lambda: leader.state["registrations"], "the joiner registers")
    with_server = "Uvicorn running"
    assert with_server not in joiner.output
    leader.scale(6)
    until(lambda: leader.serves(6), "the group grows")
    until(joiner.is_up, "the joiner is healthy")
    assert joiner.post("/scale_elastic_ep", {"new_ep_size": 8}).status == 404


def test_idle_leader_makes_no_progress(launch: Launcher) -> None:
    leader = launch.leader()
    launch.joiner(offset=4)
    until(lambda: leader.state["registrations"], "the joiner registers")
    passes = leader.state["forward_passes"]
    leader.scale(6)
    time.sleep(0.5)
    assert leader.status["scale_phase"] == "waiting_for_cohort"
    assert leader.state["forward_passes"] == passes
    leader.get("/health")
    until(lambda: leader.state["scheduler"]["effective_ep_size"] == 6, "a health check drives it")


def test_scale_without_a_joiner_fails_at_the_first_request_after_the_timeout(
    launch: Launcher,
) -> None:
    leader = launch.leader("--elastic-ep-scale-timeout", "0.3")
    leader.scale(6)
    leader.one_token()
    assert leader.status["scale_phase"] == "waiting_for_cohort"
    time.sleep(0.3)
    assert leader.status["is_scaling_elastic_ep"]
    leader.one_token()
    assert leader.status["last_error"] == "Timed out waiting for ranks to join target EP size 6"
    assert leader.scale(6).status == 200


def test_joiner_of_another_size_fails_the_operation(launch: Launcher) -> None:
    leader = launch.leader()
    launch.joiner(offset=4, ranks=4)
    until(lambda: leader.state["registrations"], "the joiner registers")
    leader.scale(6)
    leader.one_token()
    assert "does not match joining cohort target 8" in leader.status["last_error"]
    assert leader.one_token().status == 200


def test_joiner_that_is_never_admitted_gives_up(launch: Launcher) -> None:
    launch.leader()
    joiner = launch.joiner(offset=4, ADMISSION_SECONDS="0.2")
    assert joiner.ends() == -9
    assert "wait timeout after 200ms" in joiner.output


def test_joiner_without_a_leader_gives_up(launch: Launcher) -> None:
    joiner = launch.joiner(offset=4, DIAL_SECONDS="0.1")
    assert joiner.ends() == -9
    assert "Failed to receive worker ports from node 0" in joiner.output


def test_losing_a_grown_rank_breaks_the_group_for_good(launch: Launcher) -> None:
    leader = launch.leader()
    joiner = launch.joiner(offset=4)
    leader.scale(6)
    until(lambda: leader.serves(6), "the group grows")
    joiner.process.kill()
    until(lambda: leader.state["lost_ranks"] == [4, 5], "the leader notices")
    answer = leader.one_token()
    assert (answer.status, "ranks [4, 5] do not answer" in answer.text) == (500, True)
    assert "rank recovery is unsupported" in leader.status["last_error"]
    assert leader.get("/health").status == 503
    assert leader.scale(8).status == 400


def test_lost_launch_rank_is_recovered_before_any_growth(launch: Launcher) -> None:
    leader = launch.leader()
    leader.fault(do="lose_rank", rank=3)
    until(lambda: leader.state["lost_ranks"] == [3], "the rank is lost")
    assert leader.one_token().status == 500
    launch.joiner("--elastic-ep-join-mode", "recover", offset=3, ranks=1)
    until(lambda: leader.one_token().status == 200, "the rank is recovered")
    assert leader.status["effective_ep_size"] == 4


def test_joiners_die_with_their_leader(launch: Launcher) -> None:
    leader = launch.leader()
    admitted, waiting = launch.joiner(offset=4), launch.joiner(offset=6)
    until(lambda: len(leader.state["registrations"]) == 2, "both register")
    leader.scale(6)
    until(lambda: leader.serves(6), "the group grows")
    leader.process.kill()
    for joiner in (admitted, waiting):
        assert joiner.ends() == -9
        assert "Did the remote server shutdown or crash?" in joiner.output


def test_native_shrink_retires_the_tail_and_then_lets_it_go(launch: Launcher) -> None:
    leader = launch.leader(FAULTS='[{"do": "native_shrink"}]')
    joiner = launch.joiner(offset=4)
    leader.scale(6)
    until(lambda: leader.serves(6), "the group grows")
    assert leader.scale(4).status == 200
    until(lambda: leader.serves(4), "the group shrinks")
    until(lambda: leader.status["safe_to_terminate_ranks"] == [4, 5], "the ranks may go")
    until(lambda: "awaiting external termination" in joiner.output, "the joiner parks")
    joiner.process.kill()
    joiner.process.wait()
    assert leader.one_token().status == 200
    assert leader.status["last_error"] is None


def test_retired_joiner_that_is_killed_before_it_is_safe_is_a_fault(launch: Launcher) -> None:
    leader = launch.leader(FAULTS='[{"do": "native_shrink", "safeAfterSeconds": 60}]')
    joiner = launch.joiner(offset=4)
    leader.scale(6)
    until(lambda: leader.serves(6), "the group grows")
    leader.scale(4)
    until(lambda: leader.serves(4), "the group shrinks")
    assert leader.status["safe_to_terminate_ranks"] == []
    assert leader.state["retired"]["parting"] == [4, 5]
    joiner.process.kill()
    until(lambda: leader.state["retired"]["gone_too_early"] == [4, 5], "the leader notices")
    assert leader.one_token().status == 500


def test_requests_on_retiring_ranks_are_finished(launch: Launcher) -> None:
    leader = launch.leader(FAULTS='[{"do": "native_shrink"}]', TOKEN_SECONDS="0.02")
    launch.joiner(offset=4)
    leader.scale(6)
    until(lambda: leader.serves(6), "the group grows")
    with ThreadPoolExecutor(6) as clients:
        wish = {"prompt": "x", "max_tokens": 25}
        answers = [clients.submit(leader.post, "/v1/completions", wish) for _ in range(6)]
        until(lambda: leader.state["running"] == 6, "every rank has a request")
        leader.scale(4)
        assert leader.status["scale_phase"] == "draining"
        assert [answer.result().status for answer in answers] == [200] * 6
    until(lambda: leader.serves(4), "the group shrinks")


def test_loads_list_the_launch_ranks_only_and_active_requests_are_those_of_all(
    launch: Launcher,
) -> None:
    leader = launch.leader(TOKEN_SECONDS="0.02")
    launch.joiner(offset=4)
    leader.scale(6)
    until(lambda: leader.serves(6), "the group grows")
    with ThreadPoolExecutor(6) as clients:
        wish = {"prompt": "x", "max_tokens": 50}
        answers = [clients.submit(leader.post, "/v1/completions", wish) for _ in range(6)]
        until(lambda: leader.state["running"] == 6, "every rank has a request")
        loads = leader.get("/v1/loads?include=core").json["loads"]
        assert [(load["dp_rank"], load["num_running_reqs"]) for load in loads] == [
            (0, 1),
            (1, 1),
            (2, 1),
            (3, 1),
        ]
        assert active_completions(leader) == "6.0"
        assert all(answer.result().status == 200 for answer in answers)
    assert active_completions(leader) == "0.0"


def active_completions(leader: Engine) -> str:
    """The gauge of HTTP requests for completions that are being answered."""
    gauge = 'sglang:http_requests_active{endpoint="/v1/completions",method="POST"} '
    lines = leader.get("/metrics").text.splitlines()
    (found,) = [line for line in lines if line.startswith(gauge)]
    return found.removeprefix(gauge)
