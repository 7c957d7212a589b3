"""Which changes of a spec make its pods outdated, and which never do."""

from typing import Any

import pytest
from tests.plan import world

from elasticep.api.models import GroupSpec
from elasticep.plan.template_hash import template_hash

EXAMPLE_HASH = "kddskq"
"""Golden: a release that gave another one would restart every group of that shape."""


def test_the_hash_of_a_spec_is_the_same_in_every_release() -> None:
    spec = world.spec(
        model={"path": "deepseek-ai/DeepSeek-V2-Lite", "trustRemoteCode": True},
        rdma={"resource": "rdma/hca_shared_devices_a", "devices": ["mlx5_0"]},
    )

    assert template_hash(spec) == EXAMPLE_HASH


@pytest.mark.parametrize(
    "change",
    [
        {"replicas": 1},
        {"paused": True},
        {"engine": {"image": "lmsysorg/sglang:v0.5.19", "startTimeoutSeconds": 60}},
        {"engine": {"image": "lmsysorg/sglang:v0.5.19", "port": 30000}},
        {"networkPolicy": {"enabled": False}},
        {"disruptionBudget": {"enabled": True}},
    ],
    ids=[
        "replicas",
        "paused",
        "a time that only the operator reads",
        "a default written out",
        "network policy",
        "disruption budget",
    ],
)
def test_what_shapes_no_pod_leaves_the_hash_alone(change: dict[str, Any]) -> None:
    assert template_hash(world.spec(**change)) == template_hash(world.spec())


@pytest.mark.parametrize(
    "change",
    [
        {"engine": {"image": "lmsysorg/sglang:v0.5.20"}},
        {"engine": {"image": "lmsysorg/sglang:v0.5.19", "args": ["--log-level=debug"]}},
        {"engine": {"image": "lmsysorg/sglang:v0.5.19", "scaleTimeoutSeconds": 60}},
        {"leader": {"ranks": 2}},
        {"joiner": {"ranks": 1}},
        {"maxEPSize": 10},
        {"rdma": {"resource": "rdma/ib"}},
        {"template": {"spec": {"nodeSelector": {"pool": "a"}}}},
        {"placement": {"within": "example.com/rail"}},
    ],
)
def test_what_shapes_a_pod_changes_the_hash(change: dict[str, Any]) -> None:
    assert template_hash(world.spec(**change)) != template_hash(world.spec())


def test_the_order_of_a_templates_keys_is_no_change() -> None:
    def spec(**selector: str) -> GroupSpec:
        return world.spec(template={"spec": {"nodeSelector": selector}})

    assert template_hash(spec(a="1", b="2")) == template_hash(spec(b="2", a="1"))
