"""Objects that admission let in, today or by the rules of another day, read by the operator."""

from typing import Any

import pytest
from tests.api.specimens import group

from elasticep.api.models import GroupStatus, Joiner, Leader
from elasticep.api.reading import SpecUnreadableError, read_spec, read_status


def test_a_spec_is_read() -> None:
    spec = read_spec(group())
    assert (spec.leader, spec.joiner) == (Leader(ranks=4), Joiner(ranks=2))
    assert [spec.ep_size(replicas) for replicas in (0, 1, 2, 3)] == [0, 4, 6, 8]
    assert spec.ep_size() == 8


def test_the_pod_template_stays_as_it_was_written() -> None:
    written = {"containers": [{"name": "engine", "workingDir": "/"}], "shareProcessNamespace": True}
    assert read_spec(group(spec__template__spec=written)).template.spec == written


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"spec": None}, "spec"),
        ({"spec__model": None}, "spec.model"),
        ({"spec__leader__ranks": 0}, "spec.leader.ranks"),
        ({"spec__maxEPSize": "many"}, "spec.maxEPSize"),
        ({"spec__engine__args": ["--a", 3]}, "spec.engine.args[1]"),
        (
            {"spec__template__spec__containers": [{"name": 3}]},
            "spec.template.spec.containers[0].name",
        ),
    ],
)
def test_an_unreadable_spec_names_its_field(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(SpecUnreadableError) as raised:
        read_spec(group(**fields))
    assert raised.value.field == field
    assert str(raised.value) == f"{field}: {raised.value.message}"


def test_a_field_of_a_later_release_is_no_reason_to_stop() -> None:
    assert read_spec(group(spec__engine__turbo=True)) == read_spec(group())


@pytest.mark.parametrize("status", [None, {}, {"joiners": "many"}, {"operation": {"to": 3}}])
def test_a_status_that_tells_nothing_is_empty(status: Any) -> None:
    assert read_status(group(status=status)) == GroupStatus()


def test_a_report_is_cut_and_not_refused() -> None:
    failure = {"reason": "R", "excerpt": "x" * 5000, "lastFailureAt": "2026-03-04T05:06:07Z"}
    status = GroupStatus.model_validate({"failures": failure})
    assert status.failures is not None
    assert status.failures.excerpt == "x" * 4095 + "…"
