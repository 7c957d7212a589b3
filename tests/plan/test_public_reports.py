"""What other operators got wrong in public, told to this planner.

Each docstring names the reports. What needs an API server, the real engine or real nodes is
replayed in `tests/reconcile`, `tests/contract` and `tests/cluster`.
"""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.plan import states, world
from tests.plan.failures import crashing, exit_of, starting, young

from elasticep.api import names
from elasticep.api.models import GroupStatus
from elasticep.plan.actions import CreatePod, DeletePod
from elasticep.plan.decision import Plan
from elasticep.plan.planner import plan
from elasticep.world.pods import Container, Pod

HOUR = timedelta(hours=1)
BUDGET_AND_ONE = 6


def made(planned: Plan) -> list[str]:
    return [a.manifest["metadata"]["name"] for a in planned.actions if isinstance(a, CreatePod)]


def deleted(planned: Plan) -> set[str]:
    return {action.name for action in planned.actions if isinstance(action, DeletePod)}


def failure(status: GroupStatus) -> tuple[str, int]:
    assert status.failures is not None
    return status.failures.reason, status.failures.count


def born(planned: Plan, serial: int, **changes: object) -> Pod:
    """The leader pod that a plan makes, in the state that it comes to."""
    assert planned.status.incarnation is not None
    incarnation = planned.status.incarnation
    return world.leader(
        name=names.leader_pod("lite", incarnation.id),
        uid=f"leader-{serial}",
        incarnation=incarnation.id,
        serial=incarnation.serial,
        **{"ready": False, "serving": False, **changes},
    )


def leaders_made_within(span: timedelta, **fate: object) -> tuple[list[str], Plan]:
    """Every leader meets the same fate at once; the plan is what there is at the end."""
    state = world.surrounded(world.snapshot())
    end, names_made = state.now + span, []
    planned = plan(state)
    while state.now < end:
        pods = tuple(born(planned, len(names_made) + 1, **fate) for _ in made(planned))
        names_made += made(planned)
        passed = planned.look_again or timedelta(minutes=5)
        seconds = 1.0 if pods else max(passed.total_seconds(), 0.1)
        state = states.later(replace(state, pods=pods), planned, seconds=seconds)
        planned = plan(state)
    return names_made, planned


@pytest.mark.parametrize("offset", [4, 6])
def test_a_joined_rank_on_a_lost_node_restarts_the_group_though_its_pod_never_ends(
    offset: int,
) -> None:
    """kuberay#4078, kubernetes#72226, trainer PR#959, lws#508, dask-kubernetes#603."""
    grown = states.serving(8, 4, 6)
    lost = world.joiner(
        offset, reason="NodeLost", ready=False, gone_by=world.NOW - timedelta(minutes=9)
    )
    pods = (world.leader(), *(lost if p.offset == offset else p for p in grown.pods[1:]))

    planned = plan(states.later(replace(grown, pods=pods), plan(grown), seconds=1))

    assert failure(planned.status) == ("RankLost", 1)
    assert world.leader().name in deleted(planned)
    assert lost.name not in deleted(planned)


def test_the_group_starts_again_beside_a_leader_that_a_lost_node_keeps_for_ever() -> None:
    """kuberay#4078, kubernetes#72226, jobset#1021, lws#804."""
    before = plan(states.serving(4))
    stuck = world.leader(reason="NodeLost", ready=False, gone_by=world.NOW - timedelta(minutes=9))
    state = states.later(starting(stuck), before, seconds=1)

    lost = plan(state)
    assert failure(lost.status) == ("LeaderLost", 1)
    after = plan(states.later(state, lost, seconds=11))

    (name,) = made(after)
    assert name != stuck.name


def test_a_joiner_of_an_earlier_leader_is_never_taken_for_one_of_the_present() -> None:
    """lws#804, PR#805: the same names under a leader that was made again."""
    stale = world.joiner(4, leader_life="an-earlier-life")

    planned = plan(states.serving(pods=(world.leader(), stale)))

    assert deleted(planned) == {stale.name}
    assert planned.status.joiners == ()


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("Evicted", "Evicted"),
        ("Preempting", "Preempting"),
        ("Terminated", "Terminated"),
        ("NodeShutdown", "NodeShutdown"),
        ("NodeAffinity", "NodeAffinity"),
        ("UnexpectedAdmissionError", "UnexpectedAdmissionError"),
        ("OutOfnvidia.com/gpu", "NodeOutOfResources"),
        ("", "PodFailed"),
    ],
)
def test_a_pod_that_its_node_gave_up_is_replaced_under_another_name(reason: str, told: str) -> None:
    """kuberay#372, #2125, #1414, trainer#1570, koperator#326, kubernetes#125579, rbg keps."""
    dead = world.leader(phase="Failed", reason=reason, ready=False, containers=())
    first = plan(starting(dead))
    assert failure(first.status) == (told, 1)
    assert deleted(first) == {dead.name}
    assert made(first) == []

    gone = world.surrounded(world.snapshot())
    early = plan(states.later(gone, first, seconds=9))
    due = plan(states.later(gone, first, seconds=10))

    assert made(early) == []
    assert len(made(due)) == 1
    assert dead.name not in made(due)


@pytest.mark.parametrize(
    ("fate", "reason"),
    [
        ({"phase": "Failed", "reason": "UnexpectedAdmissionError"}, "UnexpectedAdmissionError"),
        ({"phase": "Failed", "reason": "OutOfcpu"}, "NodeOutOfResources"),
        ({"containers": crashing(exit_of("Segmentation fault", code=139))}, "EngineCrashed"),
        ({"containers": crashing(exit_of("", code=137, reason="OOMKilled"))}, "OOMKilled"),
    ],
)
def test_a_leader_that_ends_at_once_is_made_a_few_times_an_hour_and_then_not_again(
    fate: dict[str, object], reason: str
) -> None:
    """lws#1048, PR#877, volcano#1099, kubernetes#89007, #106419, #134712, kuberay#4272."""
    leaders, planned = leaders_made_within(HOUR, **fate)

    assert len(set(leaders)) == len(leaders) == BUDGET_AND_ONE
    assert states.condition(planned.status, "Stalled") == ("True", reason)
    assert planned.look_again is None


def test_a_crash_loop_is_told_at_the_second_exit_whatever_phase_the_pod_shows() -> None:
    """dynamo#9213, PR#9215, aicr PR#1597, devworkspace-operator#353, theia-cloud#200."""
    (looping,) = crashing(exit_of("Segmentation fault", code=139))
    once = replace(looping, restarts=0, waiting_reason="", exit=looping.last_exit, last_exit=None)
    twice = replace(looping, restarts=1)

    first = plan(starting(young((once,), phase="Running", node="node-a")))
    second = plan(starting(young((twice,), phase="Running", node="node-a")))

    assert first.status.failures is None
    assert failure(second.status) == ("EngineCrashed", 1)


def test_an_init_container_that_loops_is_named_with_its_last_words() -> None:
    """koperator#432, kwatch#259, llm-d-benchmark PR#539."""
    (looping,) = crashing(exit_of("OSError: no such model"))
    init = replace(looping, name="fetch-model", init=True)
    engine = Container(name="engine", waiting_reason="PodInitializing")

    planned = plan(starting(young((init, engine), node="node-a")))

    assert failure(planned.status) == ("InitContainerFailed", 1)
    assert planned.status.failures is not None
    assert "fetch-model" in planned.status.failures.message
    assert planned.status.failures.excerpt == "OSError: no such model"


@pytest.mark.parametrize("code", [137, 143])
def test_a_container_that_its_probe_keeps_killing_is_no_crash_of_the_engine(code: int) -> None:
    """dynamo#3726: over 350 restarts, for a probe that could not work."""
    killed = replace(
        world.running(restarts=3), ready=False, last_exit=exit_of("serving", code=code)
    )

    planned = plan(starting(young((killed,), phase="Running", node="node-a")))

    assert failure(planned.status) == ("ContainerKilled", 1)
    assert planned.status.failures is not None
    assert "probe" in planned.status.failures.advice


def test_the_same_event_five_times_is_one_failure_and_one_successor() -> None:
    """rbg#46: several deletions for one fault."""
    dead = starting(world.leader(phase="Failed", reason="Evicted", ready=False, containers=()))
    planned = plan(dead)
    for seconds in range(5):
        planned = plan(states.later(dead, planned, seconds=seconds))

    assert failure(planned.status) == ("Evicted", 1)
    assert planned.status.incarnation is not None
    assert planned.status.incarnation.serial == 2
    assert made(planned) == []


def test_a_restart_touches_nothing_but_pods() -> None:
    """volcano#5385: restarting one pod took its gang's objects along."""
    lost = plan(states.serving(6))

    assert failure(lost.status) == ("RankLost", 1)
    assert {type(action) for action in lost.actions} == {DeletePod}
