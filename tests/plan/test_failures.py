"""A stranger who reads only the object learns what is wrong and what to do."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from tests.plan.failures import NO_NODE, STORIES, Story, starting, young

import elasticep
from elasticep.api.models import Condition, GroupStatus
from elasticep.api.reasons import ReasonWord, word
from elasticep.engine.crash_signatures import SIGNATURES
from elasticep.plan.events import events_between
from elasticep.plan.planner import plan

SOURCES = Path(elasticep.__file__).parent
LONGEST = 1024
"""Longer messages and notes are refused by the API server."""


def told(story: Story) -> GroupStatus:
    return plan(story.snapshot).status


def condition(status: GroupStatus, kind: str) -> Condition:
    return next(condition for condition in status.conditions if condition.type == kind)


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_ready_says_what_is_wrong_and_what_to_do(story: Story) -> None:
    ready = condition(told(story), "Ready")

    assert (ready.status, ready.reason) == ("False", story.reason)
    assert [words for words in story.says if words not in ready.message] == []


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_scale_limited_says_the_same(story: Story) -> None:
    limited = condition(told(story), "ScaleLimited")

    assert (limited.status, limited.reason) == ("True", story.reason)
    assert limited.message == condition(told(story), "Ready").message


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_one_warning_tells_of_it_however_many_conditions_turn(story: Story) -> None:
    old, new = story.snapshot.group.status, told(story)
    warnings = [event for event in events_between(old, new) if event.type == "Warning"]

    assert [event.reason for event in warnings] == [story.reason]
    assert warnings[0].note == condition(new, "Ready").message


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_every_reason_is_explained_and_every_message_fits(story: Story) -> None:
    signatures = {signature.reason for signature in SIGNATURES}
    for each in told(story).conditions:
        assert isinstance(word(each.reason), ReasonWord) or each.reason in signatures
        assert 0 < len(each.message) <= LONGEST


def test_what_to_do_is_read_in_full_however_long_the_complaint() -> None:
    crowd = starting(young(node="", unschedulable=NO_NODE * 20))

    message = condition(plan(crowd).status, "Ready").message

    assert len(message) <= LONGEST
    assert message.endswith("node selector and tolerations in spec.template.")
    assert "0/3 nodes are available" in message


def test_a_failure_in_the_record_has_the_same_advice_as_the_condition() -> None:
    status = told(STORIES["CUDA graphs on"])

    assert status.failures is not None
    assert status.failures.advice in condition(status, "Stalled").message
    assert "annotation elasticep.dev/resume" in status.failures.advice
    assert status.failures.excerpt.endswith("decode CUDA graphs to be disabled")


def test_a_node_without_room_is_told_in_a_word_that_a_condition_may_have() -> None:
    refused = young(phase="Failed", reason="OutOfnvidia.com/gpu", message="Node has no GPU left")

    ready = condition(plan(starting(refused)).status, "Ready")

    assert ready.reason == "NodeOutOfResources"
    assert "Node has no GPU left" in ready.message


def test_a_kubelet_that_says_something_new_is_quoted() -> None:
    newer = young(phase="Failed", reason="SolarFlare", message="bits were flipped")

    ready = condition(plan(starting(newer)).status, "Ready")

    assert ready.reason == "SolarFlare"
    assert "bits were flipped" in ready.message


def test_a_secret_on_the_last_line_is_masked_in_the_message_too() -> None:
    story = STORIES["CUDA graphs on"]
    (leader,) = story.snapshot.pods
    (container,) = leader.containers
    assert container.last_exit is not None
    leaking = replace(container.last_exit, message="error: bad --admin-api-key=hunter2")
    pod = replace(leader, containers=(replace(container, last_exit=leaking),))

    status = plan(starting(pod)).status

    assert "admin-api-key" in condition(status, "Ready").message
    assert "hunter2" not in status.model_dump_json()


def test_pods_that_wait_for_nothing_unusual_need_nobody() -> None:
    status = plan(starting(young(node=""))).status

    assert condition(status, "ScaleLimited").status == "False"
    assert condition(status, "Ready").reason == "PodPending"


def test_no_word_is_called_somebody_elses_to_escape_an_explanation() -> None:
    literal = [
        f"{file.relative_to(SOURCES)}:{call.lineno}"
        for file in SOURCES.rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in {"ForeignWord", "word"}
        and any(isinstance(argument, ast.Constant) for argument in call.args)
    ]
    assert literal == []
