"""Settings and faults are read strictly, and say what is wrong with them."""

from __future__ import annotations

import json

import pytest

from simengine.fault_plan import FaultPlan
from simengine.faults import FAULTS, AnswerWith, Fault, Identity
from simengine.settings import Settings, SettingsError

NEEDED = {"ELASTICEP_SIM_RESOLVER": "http://resolver", "ELASTICEP_SIM_VERSION": "0.5.19"}


def read(**variables: str) -> Settings:
    given = {f"ELASTICEP_SIM_{name}": value for name, value in variables.items()}
    return Settings.from_environment(NEEDED | given | {"HOME": "/nowhere"})


def faults(*specs: dict[str, object]) -> tuple[Fault, ...]:
    return FAULTS.validate_json(json.dumps(specs))


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("LOAD_SECONDS", "soon", "ELASTICEP_SIM_LOAD_SECONDS: Input should be a valid number"),
        ("LOAD_SECONDS", "-1", "ELASTICEP_SIM_LOAD_SECONDS: Input should be greater than or"),
        ("LAOD_SECONDS", "1", "ELASTICEP_SIM_LAOD_SECONDS: Extra inputs are not permitted"),
        ("FAULTS", "{", "ELASTICEP_SIM_FAULTS: Value error, must be a JSON list of faults"),
        ("FAULTS", '[{"do": "explode"}]', "ELASTICEP_SIM_FAULTS[0]: Input tag 'explode'"),
        ("FAULTS", '[{"do": "hang"}]', "ELASTICEP_SIM_FAULTS[0].hang.stage: Field required"),
        (
            "FAULTS",
            '[{"do": "crash", "stage": "load", "log": "x", "signature": "nixl_backend"}]',
            "ELASTICEP_SIM_FAULTS[0].crash: Value error, give `signature`",
        ),
    ],
)
def test_bad_variable_is_named(name: str, value: str, text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read(**{name: value})
    assert str(caught.value).startswith(text)


def test_device_names_are_a_list_and_may_be_none() -> None:
    assert read(INFINIBAND="mlx5_0, mlx5_1").infiniband == ("mlx5_0", "mlx5_1")
    assert read(INFINIBAND="").infiniband == ()


@pytest.mark.parametrize(
    ("when", "who", "struck"),
    [
        ({}, Identity(role="leader"), True),
        ({"role": "joiner"}, Identity(role="leader"), False),
        ({"role": "joiner", "offset": 6}, Identity(role="joiner", offset=6), True),
        ({"offset": 6}, Identity(role="joiner", offset=4), False),
        ({"firstStarts": 1}, Identity(role="leader", start=1), True),
        ({"firstStarts": 1}, Identity(role="leader", start=2), False),
        ({"firstAttempts": 1}, Identity(role="joiner", attempt=0), False),
        ({"firstAttempts": 1}, Identity(role="joiner", attempt=1), True),
        ({"firstAttempts": 1}, Identity(role="joiner", attempt=2), False),
    ],
)
def test_fault_strikes_those_it_is_meant_for(
    when: dict[str, object], who: Identity, struck: bool
) -> None:
    plan = FaultPlan(who=who, initial=faults({"do": "hang", "stage": "load", "when": when}))
    assert (plan.at_stage("load") is not None) == struck
    assert plan.at_stage("join") is None


def test_fault_with_a_count_is_used_up_and_the_next_takes_over() -> None:
    once = {"do": "answer", "route": "scale", "status": 409, "times": 1}
    always = {"do": "answer", "route": "scale", "status": 500}
    plan = FaultPlan(who=Identity(role="leader"), initial=faults(always, once))
    statuses = []
    for _ in range(3):
        fault = plan.on_route("scale", AnswerWith)
        assert fault is not None
        statuses.append(fault.status)
    assert statuses == [409, 500, 500]
    assert plan.on_route("status", AnswerWith) is None


def test_fault_added_later_overrides_and_can_be_taken_back() -> None:
    slow = {"do": "timing", "loadSeconds": 9, "joinSeconds": 9}
    plan = FaultPlan(who=Identity(role="leader"), initial=faults(slow))
    plan.add(faults({"do": "timing", "loadSeconds": 1}))
    assert plan.timing == {"load_seconds": 1, "join_seconds": 9}
    plan.clear()
    assert plan.timing == {"load_seconds": 9, "join_seconds": 9}
