"""What a lone leader answers: statuses, bodies and keys as in SGLang."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.simengine.conftest import Engine, Launcher, until


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"{", "Invalid JSON"),
        (b"[]", "request body must be a JSON object"),
        (b"{}", "new_ep_size must be a positive integer"),
        (b'{"new_ep_size": true}', "new_ep_size must be a positive integer"),
        (b'{"new_ep_size": "6"}', "new_ep_size must be a positive integer"),
        (b'{"new_ep_size": 0}', "new_ep_size must be a positive integer"),
        (b'{"new_ep_size": 3}', "must be greater than current effective_ep_size (4)"),
        (b'{"new_ep_size": 9}', "exceeds --max-ep-size (8)"),
    ],
)
def test_bad_scale_request_is_refused(lone_leader: Engine, body: bytes, text: str) -> None:
    answer = lone_leader.call("POST", "/scale_elastic_ep", body)
    assert answer.status == 400
    assert text in answer.json["error"]


def test_completion_has_as_many_tokens_as_wanted(lone_leader: Engine) -> None:
    answer = lone_leader.post("/v1/completions", {"prompt": "hi", "max_tokens": 3}).json
    assert answer["choices"][0]["text"] == " elastic expert parallelism"
    assert answer["usage"]["completion_tokens"] == 3
    assert answer["model"] == "deepseek-v2-lite"


def test_stream_sends_each_token_and_says_when_it_is_done(lone_leader: Engine) -> None:
    wish = {"prompt": "hi", "max_tokens": 2, "stream": True}
    text = lone_leader.post("/v1/completions", wish).text
    assert text.count("data: {") == 2
    assert text.rstrip().endswith("data: [DONE]")


def test_generate_answers_in_the_native_shape(lone_leader: Engine) -> None:
    wish = {"text": "hi", "sampling_params": {"max_new_tokens": 2}}
    answer = lone_leader.post("/generate", wish).json
    assert (answer["text"], answer["meta_info"]["completion_tokens"]) == (" elastic expert", 2)


def test_completion_without_a_prompt_is_refused_by_name(lone_leader: Engine) -> None:
    answer = lone_leader.post("/v1/completions", {})
    assert (answer.status, answer.json["message"].split(":")[0]) == (400, "prompt")


def test_models_and_server_info_name_the_model(lone_leader: Engine) -> None:
    assert lone_leader.get("/v1/models").json["data"][0]["id"] == "deepseek-v2-lite"
    info = lone_leader.get("/server_info").json
    assert info["internal_states"][0]["effective_ep_size"] == 4
    assert "admin_api_key" not in info


def test_gauges_tell_running_from_queued_requests(launch: Launcher) -> None:
    leader = launch.leader(TOKEN_SECONDS="0.05", MAX_RUNNING_REQUESTS="2")
    with ThreadPoolExecutor(5) as clients:
        wish = {"prompt": "x", "max_tokens": 10}
        answers = [clients.submit(leader.post, "/v1/completions", wish) for _ in range(5)]
        until(lambda: loads(leader) == (2, 3), "two requests run and three wait")
        assert leader.state["running"] <= 2
        assert all(answer.result().status == 200 for answer in answers)
    assert loads(leader) == (0, 0)


def test_request_whose_client_hangs_up_is_aborted(launch: Launcher) -> None:
    leader = launch.leader(TOKEN_SECONDS="0.05")
    body = b'{"prompt": "x", "max_tokens": 1000}'
    head = f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", leader.port)) as client:
        client.sendall(head.encode() + body)
        until(lambda: leader.state["running"] == 1, "the request runs")
    until(lambda: leader.state["requests"].get("aborted") == 1, "the request is aborted")
    assert leader.state["running"] == 0


def test_admin_key_guards_the_scale_routes_of_a_running_leader(launch: Launcher) -> None:
    leader = launch.leader("--admin-api-key", "root")
    body = {"new_ep_size": 6}
    refused = leader.post("/scale_elastic_ep", body)
    assert (refused.status, refused.json) == (401, {"error": "Unauthorized"})
    assert leader.get("/is_scaling_elastic_ep", key="wrong").status == 401
    assert leader.post("/scale_elastic_ep", body, key="root").status == 200
    assert leader.one_token().status == 200


def loads(leader: Engine) -> tuple[float, float]:
    """Running and queued requests, summed over the leader's ranks."""
    text = leader.get("/metrics").text
    return gauge(text, "sglang:num_running_reqs"), gauge(text, "sglang:num_queue_reqs")


def gauge(text: str, name: str) -> float:
    lines = [line for line in text.splitlines() if line.startswith(name + "{")]
    return sum(float(line.rpartition(" ")[2]) for line in lines)
