"""The world of the model test itself: in fair weather it does what the real one does."""

from datetime import timedelta

import pytest
from tests.sim.settling import settle
from tests.sim.story import Story
from tests.sim.wellformed import is_true, reason_of


def test_a_group_grows_to_its_size_when_nothing_goes_wrong() -> None:
    story = Story()

    settle(story)

    assert is_true(story.api.status, "Ready")
    assert story.nodes.leaders()[0].group.effective == 8
    assert story.laws.counted == 0


@pytest.mark.parametrize("template", ["breaks leader", "breaks joiner"])
def test_a_template_that_can_only_crash_is_named_and_stopped(template: str) -> None:
    story = Story(template=template)

    settle(story)

    assert reason_of(story.api.status, "Stalled") == "CudaGraphEnabled"
    assert story.api.status.failures is not None
    assert story.now - story.api.status.failures.last_failure_at > timedelta(hours=1)
