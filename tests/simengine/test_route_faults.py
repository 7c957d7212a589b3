"""Faults on the leader's routes, as a client of the scale routes meets them."""

from __future__ import annotations

import http.client
import time
from collections.abc import Iterator

import pytest
from tests.simengine.conftest import Engine, Launcher


@pytest.fixture
def leader(lone_leader: Engine) -> Iterator[Engine]:
    yield lone_leader
    lone_leader.call("DELETE", "/sim/faults")


@pytest.mark.parametrize(
    ("fault", "status", "text"),
    [
        ({"status": 409, "body": {"error": "busy"}}, 409, '{"error": "busy"}'),
        ({"status": 500}, 500, '{"error": "Internal Server Error"}'),
        ({"status": 200, "body": "<html>"}, 200, "<html>"),
    ],
)
def test_route_answers_wrongly_as_often_as_told(
    leader: Engine, fault: dict[str, object], status: int, text: str
) -> None:
    leader.fault(do="answer", route="scale", times=2, **fault)
    for _ in range(2):
        answer = leader.scale(6)
        assert (answer.status, answer.text) == (status, text)
    assert leader.status["pending_ep_size"] is None
    assert leader.scale(3).status == 400


@pytest.mark.parametrize(("accept", "pending"), [(True, 6), (False, None)])
def test_connection_is_reset_after_or_before_the_request_is_taken(
    launch: Launcher, accept: bool, pending: int | None
) -> None:
    leader = launch.leader()
    leader.fault(do="reset", route="scale", accept=accept, times=1)
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        leader.scale(6)
    assert leader.status["pending_ep_size"] == pending
    counted = leader.get("/sim/operations").json["accepted"]
    assert counted == ({"6": 1} if accept else {})


def test_slow_route_answers_late(leader: Engine) -> None:
    leader.fault(do="slow", route="status", seconds=0.3, times=1)
    began = time.monotonic()
    assert leader.get("/is_scaling_elastic_ep").status == 200
    assert time.monotonic() - began >= 0.3


def test_phase_can_be_a_word_nobody_knows(leader: Engine) -> None:
    leader.fault(do="show_phase", phase="reticulating")
    assert leader.status["scale_phase"] == "reticulating"
    assert leader.call("DELETE", "/sim/faults").json == []
    assert leader.status["scale_phase"] == "idle"


def test_bad_fault_is_refused_with_its_place(leader: Engine) -> None:
    answer = leader.post("/sim/faults", [{"do": "crash", "stage": "nowhere"}])
    assert answer.status == 400
    assert answer.json["error"].startswith("[0].crash.stage: Input should be 'start'")
