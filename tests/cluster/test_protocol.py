"""One operation at a time, asked for once, whatever the engine or the operator's life does."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.cluster.groups import Namespace, eventually
from tests.cluster.operator_pod import OperatorPod

from testbed.cluster import Cluster

pytestmark = pytest.mark.cluster

FAULTS = {
    "the answer is lost after the request was taken": {"do": "reset", "route": "scale", "times": 1},
    "the request is never taken": {
        "do": "reset",
        "route": "scale",
        "accept": False,
        "times": 1,
    },
    "a server error": {"do": "answer", "route": "scale", "status": 500, "times": 2},
    "an answer that comes late": {"do": "slow", "route": "scale", "seconds": 12, "times": 1},
    "a state that is no JSON": {
        "do": "answer",
        "route": "status",
        "status": 200,
        "body": "<html>",
        "times": 8,
    },
    "a state that comes late": {"do": "slow", "route": "status", "seconds": 5, "times": 2},
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_growth_survives(name: str, namespace: Namespace) -> None:
    group = namespace.create_group(replicas=1)
    group.await_size(4)
    group.inject(FAULTS[name])

    group.scale(2)

    group.await_size(6, within=90)
    assert group.accepted_requests() == {"6": 1}


def test_a_growth_through_phases_that_nobody_knows_is_followed_to_its_end(
    namespace: Namespace,
) -> None:
    group = namespace.create_group(replicas=1)
    group.await_size(4)

    group.scale(2)
    eventually(group.accepted_requests, within=30, explain=group.describe)
    group.inject({"do": "show_phase", "phase": "reticulating_splines"})

    eventually(lambda: group.effective() == 6, within=60, explain=group.describe)
    assert group.accepted_requests() == {"6": 1}


def test_an_engine_in_a_phase_that_nobody_knows_is_asked_for_nothing(
    namespace: Namespace,
) -> None:
    group = namespace.create_group(replicas=1)
    group.await_size(4)
    group.inject({"do": "show_phase", "phase": "reticulating_splines"})

    group.scale(2)

    group.await_condition("Ready", "False", "ReticulatingSplines")
    assert group.accepted_requests() == {}
    assert group.condition("Available")[0] == "True"


def test_a_refused_request_is_reported_and_tried_again_after_a_back_off(
    namespace: Namespace,
) -> None:
    group = namespace.create_group(replicas=1)
    group.await_size(4)
    group.inject({"do": "answer", "route": "scale", "status": 400, "times": 1})

    group.scale(2)

    group.await_condition("ScaleLimited", "True", "ScaleRejected")
    group.await_size(6, within=90)
    assert group.accepted_requests() == {"6": 1}


@pytest.mark.disturbs
def test_an_operator_killed_at_any_moment_of_a_growth_asks_for_each_size_once(
    request: pytest.FixtureRequest,
    cluster: Cluster,
    namespace: Namespace,
    operator: OperatorPod,
) -> None:
    """SIGKILL while three groups are at different points; ``--kills N`` does it more than once."""
    moment = random.Random(20260101)
    operator.stop()
    for number in range(request.config.getoption("--kills")):
        groups = []
        with running_operator(cluster) as first:
            for letter in "abc":
                groups.append(namespace.create_group(f"{letter}{number}"))
                time.sleep(moment.uniform(0.2, 4))
            time.sleep(moment.uniform(0, 8))
            first.kill()
        with running_operator(cluster):
            for group in groups:
                group.await_size(8, within=90)
                assert group.accepted_requests() == {"6": 1, "8": 1}
                assert len(group.pods()) == 3
            namespace.kubectl("delete", "eepg", "--all")
            eventually(lambda: not namespace.pods(), within=60)


@contextmanager
def running_operator(cluster: Cluster) -> Iterator["subprocess.Popen[bytes]"]:
    """An operator on this machine, which can be killed and started without a wait."""
    words = [sys.executable, "-m", "elasticep", "run", "--no-leader-election"]
    environment = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig)}
    with subprocess.Popen(
        [*words, "--host=127.0.0.1", "--health-port=18080"],
        env=environment,
        stdout=subprocess.DEVNULL,
    ) as process:
        try:
            yield process
        finally:
            process.kill()
