"""What becomes of pods when spec no longer says what they were made from."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.plan import states, world

from elasticep.api.models import GroupSpec
from elasticep.plan.actions import CreatePod, DeletePod, SendTraffic
from elasticep.plan.planner import plan
from elasticep.plan.template_hash import template_hash
from elasticep.world.pods import Exit

GRAPHS = "AssertionError: Elastic EP scale-up requires decode CUDA graphs to be disabled"
TUNED = world.spec(engine={"image": "lmsysorg/sglang:v0.5.19", "args": ["--log-level", "debug"]})


@pytest.mark.parametrize(
    "spec", [world.spec(joiner={"ranks": 1}), world.spec(leader={"ranks": 2}), TUNED]
)
def test_what_serves_is_kept_beside_its_successor_whatever_sizes_spec_speaks_of(
    spec: GroupSpec,
) -> None:
    grown = states.serving(8, 4, 6)
    known = plan(grown)

    planned = plan(states.wanting(spec, states.later(grown, known, seconds=1)))

    assert [type(action) for action in planned.actions] == [CreatePod]
    assert planned.status.failures is None
    assert planned.status.replicas == 3
    assert [joiner.ranks for joiner in planned.status.joiners] == [2, 2]
    assert {joiner.state.value for joiner in planned.status.joiners} == {"Joined"}


def test_a_joined_rank_that_is_lost_meanwhile_is_still_noticed() -> None:
    known = plan(states.serving(8, 4, 6))
    spec = world.spec(joiner={"ranks": 1})

    planned = plan(states.wanting(spec, states.later(states.serving(8, 4), known, seconds=1)))

    assert planned.status.failures is not None
    assert planned.status.failures.reason == "RankLost"


def test_a_restart_that_nobody_acted_on_is_not_forgotten() -> None:
    """While the group is paused, or the engine is silent, the joiner may be started again."""
    grown = states.serving(6, 4)
    again = world.joiner(4, containers=(world.running(container_id="two", restarts=1),))
    restarted = replace(grown, pods=(world.leader(), again))
    silent = plan(states.later(replace(restarted, engine=world.LOADING), plan(grown), seconds=1))

    planned = plan(states.later(restarted, silent, seconds=1))

    assert planned.status.failures is not None
    assert planned.status.failures.reason == "RankLost"


def test_the_failure_of_a_pod_from_an_older_template_does_not_stop_the_mended_one() -> None:
    ended = Exit(code=1, message=GRAPHS, finished_at=world.NOW)
    container = replace(world.running(), running=False, ready=False, exit=ended)
    crashed = world.leader(ready=False, serving=False, containers=(container,))
    state = world.surrounded(world.snapshot(pods=(crashed,)))

    failed = plan(states.wanting(TUNED, state))
    empty = states.wanting(TUNED, world.surrounded(world.snapshot()))
    planned = plan(states.later(empty, failed, seconds=20))

    (made,) = planned.actions
    assert isinstance(made, CreatePod)
    labels = made.manifest["metadata"]["labels"]
    assert labels["elasticep.dev/template-hash"] == template_hash(TUNED)


def test_no_joiner_of_another_template_is_made_for_an_operation_in_flight() -> None:
    busy = states.serving(engine=world.engine(4, pending=6, phase="waiting_for_cohort"))

    planned = plan(states.wanting(TUNED, states.recorded(busy, operation=states.operation())))

    assert planned.actions == ()
    assert planned.status.operation is not None


def test_a_joiner_that_will_not_be_asked_for_gives_its_gpus_back() -> None:
    planned = plan(states.wanting(TUNED, states.serving(4, 4)))

    assert [type(action) for action in planned.actions] == [DeletePod]


def test_a_leader_that_is_to_go_gets_no_traffic() -> None:
    ready = world.leader(serving=False)

    planned = plan(states.wanting(TUNED, states.serving(4, pods=(ready,))))

    assert [type(action) for action in planned.actions] == [DeletePod]
    assert not any(isinstance(action, SendTraffic) for action in planned.actions)


def test_a_paused_group_whose_leader_has_failed_reports_the_same_at_every_look() -> None:
    evicted = world.leader(phase="Failed", reason="Evicted", serving=False, ready=False)
    state = world.surrounded(world.snapshot(pods=(evicted,)))
    paused = states.wanting(world.spec(paused=True), state)

    first = plan(paused)
    second = plan(states.later(paused, first, minutes=5))

    assert first.actions == second.actions == ()
    assert second.status == first.status
    assert first.status.failures is None
    assert states.condition(first.status, "Ready") == ("False", "Paused")
    assert second.look_again is None or second.look_again > timedelta(minutes=1)


def test_a_failure_on_record_is_not_counted_again_because_spec_has_changed_since() -> None:
    evicted = world.joiner(4, phase="Failed", reason="Evicted", ready=False)
    busy = world.engine(4, pending=6, phase="waiting_for_cohort")
    state = states.serving(4, pods=(world.leader(), evicted), engine=busy)
    state = states.recorded(state, operation=states.operation())
    first = plan(state)

    again = plan(states.wanting(TUNED, states.later(state, first, seconds=1)))

    assert [type(action) for action in again.actions] == [DeletePod]
    assert again.status.failures == first.status.failures
