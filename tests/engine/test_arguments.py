import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elasticep.engine.arguments import Launch, joiner_arguments, leader_arguments
from elasticep.engine.contract import KNOWN_VERSIONS, contract_for
from elasticep.engine.owned_flags import FLAG_FAMILIES

LAUNCH = Launch(
    model_path="deepseek-ai/DeepSeek-V2-Lite",
    trust_remote_code=True,
    leader_ranks=4,
    joiner_ranks=2,
    max_ep_size=8,
    http_port=30000,
    dist_init_port=20000,
    scale_timeout_seconds=1800,
    ib_devices=("mlx5_0", "mlx5_1"),
    extra_args=("--mem-fraction-static", "0.85"),
    admin_key="$(ADMIN_KEY)",
)
OLDEST = contract_for("0.5.19")
NEWEST = contract_for("0.5.23")

SHARED = (
    *("--mem-fraction-static", "0.85"),
    *("--model-path=deepseek-ai/DeepSeek-V2-Lite", "--trust-remote-code"),
    *("--host", "0.0.0.0", "--port", "30000", "--enable-metrics"),
    "--admin-api-key=$(ADMIN_KEY)",
)
ELASTIC = (
    *("--enable-dp-lm-head", "--moe-dense-tp-size", "1", "--load-balance-method", "round_robin"),
    *("--elastic-ep-backend", "mooncake", "--moe-a2a-backend", "nixl"),
    *("--max-ep-size", "8", "--elastic-ep-scale-timeout", "1800"),
    *("--mooncake-ib-device", "mlx5_0,mlx5_1"),
    *("--cuda-graph-backend-decode", "disabled", "--cuda-graph-backend-prefill", "disabled"),
)


def test_the_leaders_line() -> None:
    assert leader_arguments(OLDEST, LAUNCH, own_address="$(POD_IP)") == (
        *SHARED,
        *("--tp-size", "4", "--ep-size", "4", "--enable-dp-attention", "--dp-size", "4"),
        *ELASTIC,
        *("--dist-init-addr", "$(POD_IP):20000", "--nnodes", "1", "--node-rank", "0"),
        *("--elastic-ep-initial-size", "4"),
    )


def test_a_joiners_line() -> None:
    assert joiner_arguments(NEWEST, LAUNCH, offset=6, leader_address="10.0.0.7") == (
        *SHARED,
        *("--tp-size", "2", "--ep-size", "2", "--attn-dp-size", "2"),
        *ELASTIC,
        *("--dist-init-addr", "10.0.0.7:20000", "--nnodes", "2", "--node-rank", "1"),
        *("--elastic-ep-join-mode", "scale", "--elastic-ep-join-rank-offset", "6"),
        *("--elastic-ep-initial-size", "4"),
    )


@pytest.mark.parametrize(
    ("address", "written"),
    [
        ("10.0.0.7", "10.0.0.7:20000"),
        ("fd00::7", "[fd00::7]:20000"),
        ("[fd00::7]", "[fd00::7]:20000"),
        ("$(POD_IP)", "$(POD_IP):20000"),
        ("[$(POD_IP)]", "[$(POD_IP)]:20000"),
    ],
)
def test_an_ipv6_address_stands_in_brackets(address: str, written: str) -> None:
    line = joiner_arguments(OLDEST, LAUNCH, offset=4, leader_address=address)
    assert line[line.index("--dist-init-addr") + 1] == written


def test_what_the_spec_leaves_out_is_left_out() -> None:
    plain = dataclasses.replace(LAUNCH, trust_remote_code=False, ib_devices=(), extra_args=())
    line = leader_arguments(OLDEST, plain, own_address="10.0.0.7")
    assert line[0] == "--model-path=deepseek-ai/DeepSeek-V2-Lite"
    assert "--trust-remote-code" not in line
    assert "--mooncake-ib-device" not in line


@given(
    version=st.sampled_from(KNOWN_VERSIONS),
    leader_ranks=st.integers(2, 64),
    joiner_ranks=st.integers(1, 64),
    joiners=st.integers(1, 8),
)
def test_each_flag_stands_once_and_is_the_operators(
    version: str, leader_ranks: int, joiner_ranks: int, joiners: int
) -> None:
    contract = contract_for(version)
    group = dataclasses.replace(
        LAUNCH,
        leader_ranks=leader_ranks,
        joiner_ranks=joiner_ranks,
        max_ep_size=leader_ranks + joiners * joiner_ranks,
        extra_args=(),
    )
    offset = group.max_ep_size - joiner_ranks
    owned = {spelling for family in FLAG_FAMILIES for spelling in family.spellings}
    for line in (
        leader_arguments(contract, group, own_address="10.0.0.7"),
        joiner_arguments(contract, group, offset=offset, leader_address="10.0.0.7"),
    ):
        flags = [item.partition("=")[0] for item in line if item.startswith("-")]
        assert len(set(flags)) == len(flags)
        assert owned.issuperset(flags)


@given(version=st.sampled_from(KNOWN_VERSIONS), offset=st.integers(2, 64))
def test_roles_agree_on_all_that_is_not_theirs_alone(version: str, offset: int) -> None:
    contract = contract_for(version)
    same_size = dataclasses.replace(LAUNCH, joiner_ranks=LAUNCH.leader_ranks)
    leader = leader_arguments(contract, same_size, own_address="10.0.0.7")
    joiner = joiner_arguments(contract, same_size, offset=offset, leader_address="10.0.0.7")
    shared = leader[: leader.index("--nnodes")]
    assert joiner[: len(shared)] == shared
