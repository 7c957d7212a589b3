"""What the API server keeps of a group: its defaults, its status, its scale."""

from datetime import UTC, datetime
from typing import Any

import pytest
import yaml
from tests.api.conftest import ApiServer, Refusal
from tests.api.specimens import GOOD, group

from elasticep.api.models import (
    Condition,
    ConditionStatus,
    EPSizeStatus,
    FailureStatus,
    GroupSpec,
    GroupStatus,
    IncarnationStatus,
    JoinerState,
    JoinerStatus,
    MoveKind,
    MoveStatus,
    OperationStatus,
    RetiringStatus,
    ScaleDownStatus,
)
from elasticep.api.reading import read_spec, read_status

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
JOINER = JoinerStatus(
    pod="deepseek-joiner-4-bcdfgh",
    uid="7a2d",
    offset=4,
    ranks=2,
    state=JoinerState.JOINED,
    restarts=1,
)
GROWTH = OperationStatus(
    from_=6, to=8, phase="Joining", started_at=NOW, deadline=NOW, message="waits for a joiner"
)

FULL_STATUS = GroupStatus(
    observed_generation=3,
    conditions=tuple(
        Condition(
            type=kind,
            status=ConditionStatus.TRUE,
            reason="AllRanksServing",
            message="EP size 6",
            observed_generation=3,
            last_transition_time=NOW,
        )
        for kind in ("Ready", "Available")
    ),
    selector="elasticep.dev/group-name=deepseek",
    replicas=3,
    ready_replicas=2,
    ep_size=EPSizeStatus(desired=8, effective=6, pending=8),
    incarnation=IncarnationStatus(
        id="bcdfgh", serial=2, leader_uid="6f1c", template_hash="hgfdcb", started_at=NOW
    ),
    joiners=(JOINER,),
    operation=GROWTH,
    move=MoveStatus(
        kind=MoveKind.ROLL_OUT,
        successor=IncarnationStatus(
            id="dfghjk", serial=3, leader_uid="7a2c", template_hash="kjhgfd", started_at=NOW
        ),
        after=2,
        joiners=(JOINER,),
        operation=GROWTH,
        started_at=NOW,
        message="the template changed",
    ),
    retiring=(
        RetiringStatus(
            id="bbbccc",
            serial=1,
            kind=MoveKind.ROLL_OUT,
            ends_first=True,
            since=NOW,
            deadline=NOW,
            message="the template changed",
        ),
    ),
    scale_down=ScaleDownStatus(ep_size=4, since=NOW, refusal="it cannot shrink"),
    failures=FailureStatus(
        reason="RdmaDeviceName",
        count=2,
        interrupted=1,
        last_exit_code=1,
        message="the engine ended",
        advice="write another name",
        excerpt="Invalid IB devices specified",
        last_failure_at=NOW,
        template_hash="hgfdcb",
        next_retry_at=NOW,
        resume="2026-03-04",
    ),
)


def unset(model: Any, path: str = "") -> list[str]:
    """The fields, at whatever depth, that a model leaves at nothing."""
    found = []
    for name in type(model).model_fields:
        value = getattr(model, name)
        if value in (None, "", (), 0):
            found.append(f"{path}.{name}")
        for item in value if isinstance(value, tuple) else (value,):
            if hasattr(type(item), "model_fields"):
                found += unset(item, f"{path}.{name}")
    return found


def test_every_field_of_the_status_is_kept(apiserver: ApiServer, stored: str) -> None:
    assert unset(FULL_STATUS) == [], "a new field is not written here yet"
    written = FULL_STATUS.model_dump(mode="json", by_alias=True, exclude_none=True)
    kept = apiserver.write_status(stored, written)
    assert not isinstance(kept, Refusal), kept
    assert kept["status"] == written
    assert read_status(kept) == FULL_STATUS


def test_conditions_are_told_apart_by_their_type(apiserver: ApiServer, stored: str) -> None:
    def condition(kind: str, status: str) -> dict[str, Any]:
        moment = "2026-03-04T05:06:07Z"
        return {"type": kind, "status": status, "reason": "R", "lastTransitionTime": moment}

    twice = [condition("Ready", "True"), condition("Ready", "False")]
    refusal = apiserver.write_status(stored, {"conditions": twice})
    assert isinstance(refusal, Refusal)
    assert ("status.conditions[1]", 'Duplicate value: {"type":"Ready"}') in refusal.causes


def test_defaults_are_filled_in_and_are_those_of_the_models(
    apiserver: ApiServer, stored: str
) -> None:
    kept = apiserver.get(stored)
    assert kept["spec"]["engine"]["port"] == 30000
    assert kept["spec"]["paused"] is False
    assert read_spec(kept) == GroupSpec.model_validate(GOOD["spec"])


@pytest.mark.parametrize("options", [[], ["--server-side"]], ids=["client-side", "server-side"])
def test_what_is_applied_twice_changes_nothing(
    apiserver: ApiServer, stored: str, options: list[str]
) -> None:
    manifest = yaml.safe_dump(group(metadata__name=stored))
    for _ in range(2):
        applied = apiserver.kubectl("apply", *options, "-f", "-", stdin=manifest)
        assert applied.returncode == 0, applied.stderr
    assert apiserver.get(stored)["metadata"]["generation"] == 1


def test_status_does_not_move_the_generation(apiserver: ApiServer, stored: str) -> None:
    apiserver.write_status(stored, {"replicas": 1})
    assert apiserver.get(stored)["metadata"]["generation"] == 1


def test_scale_shows_what_an_autoscaler_needs(apiserver: ApiServer, stored: str) -> None:
    apiserver.write_status(stored, {"replicas": 2, "selector": "a=b"})
    scale = apiserver.scale(stored, 2)
    assert not isinstance(scale, Refusal)
    assert scale["spec"] == {"replicas": 2}
    assert scale["status"] == {"replicas": 2, "selector": "a=b"}
    assert apiserver.get(stored)["spec"]["replicas"] == 2


def test_kubectl_scale_beyond_the_maximum_says_what_is_possible(
    apiserver: ApiServer, stored: str
) -> None:
    scaled = apiserver.kubectl("scale", f"eepg/{stored}", "--replicas=4")
    assert scaled.returncode != 0
    assert (
        "spec.replicas: Invalid value: replicas 4 would need EP size 10 (leader.ranks 4 + 3 x"
        " joiner.ranks 2), more than maxEPSize 8: lower replicas to at most 3"
    ) in scaled.stderr
    assert apiserver.get(stored)["spec"]["replicas"] == 3


def test_kubectl_apply_says_what_to_change(apiserver: ApiServer) -> None:
    manifest = yaml.safe_dump(group(spec__rdma__devices=["SET-ME"]))
    applied = apiserver.kubectl("apply", "-f", "-", stdin=manifest)
    assert applied.returncode != 0
    assert 'spec.rdma.devices[0]: Invalid value: "SET-ME": this is a placeholder' in applied.stderr
