"""Every command line that the operator renders is one that the real SGLang takes, as meant."""

from typing import Any

import pytest
from judge import LEADER_ADDRESS, Judge, launch

from elasticep.engine.arguments import Launch
from elasticep.engine.contract import AttentionParallelism, contract_for, version_from_image
from elasticep.engine.flags import refused_flags
from sglang_resolver.verdict import Verdict

pytestmark = pytest.mark.contract

EXTRA_ARGUMENTS = {
    "none": (),
    "memory": ("--mem-fraction-static", "0.85", "--max-running-requests=64"),
    "balanced experts": (
        *("--enable-eplb", "--ep-num-redundant-experts", "24"),
        *("--deepep-mode", "low_latency", "--eplb-rebalance-num-iterations", "200"),
    ),
    "many values": ("--tokenizer-metrics-allowed-custom-labels", "tenant", "--log-level", "info"),
}


@pytest.mark.parametrize("extra", EXTRA_ARGUMENTS.values(), ids=EXTRA_ARGUMENTS)
@pytest.mark.parametrize("joiner_ranks", [1, 2, 4])
@pytest.mark.parametrize("leader_ranks", [2, 4, 8])
def test_a_group_is_accepted_at_every_size(
    judge: Judge, leader_ranks: int, joiner_ranks: int, extra: tuple[str, ...]
) -> None:
    assert refused_flags(extra) == ()
    group = launch(
        leader_ranks=leader_ranks,
        joiner_ranks=joiner_ranks,
        max_ep_size=leader_ranks + 3 * joiner_ranks,
        extra_args=extra,
    )
    offsets = range(leader_ranks, group.max_ep_size, joiner_ranks)
    leader, *joiners = judge.verdicts(
        [judge.leader(group), *(judge.joiner(group, offset) for offset in offsets)]
    )
    assert_role(judge, leader, group, ranks=leader_ranks, nnodes=1, node_rank=0)
    assert leader.resolved is not None
    assert leader.resolved["ep_join_mode"] is None
    for offset, joiner in zip(offsets, joiners, strict=True):
        assert_role(judge, joiner, group, ranks=joiner_ranks, nnodes=2, node_rank=1)
        assert joiner.resolved is not None
        assert joiner.resolved["ep_join_mode"] == "scale"
        assert joiner.resolved["ep_join_rank_offset"] == offset


def assert_role(
    judge: Judge, verdict: Verdict, group: Launch, *, ranks: int, nnodes: int, node_rank: int
) -> None:
    assert verdict.accepted, verdict.output
    settings = verdict.resolved or {}
    assert settings["nnodes"] == nnodes
    assert settings["node_rank"] == node_rank
    assert settings["tp_size"] == settings["ep_size"] == attention_ranks(judge, settings) == ranks
    assert settings["elastic_ep_initial_size"] == group.leader_ranks
    assert settings["max_ep_size"] == group.max_ep_size
    assert settings["elastic_ep_backend"] == "mooncake"
    assert settings["moe_a2a_backend"] == "nixl"
    assert settings["moe_dense_tp_size"] == 1
    assert settings["load_balance_method"] == "round_robin"
    assert settings["cuda_graph_config"]["decode"]["backend"] == "disabled"
    assert settings["cuda_graph_config"]["prefill"]["backend"] == "disabled"
    assert settings["elastic_ep_scale_timeout"] == group.scale_timeout_seconds
    assert settings["dist_init_addr"] == f"{LEADER_ADDRESS}:{group.dist_init_port}"
    assert settings["mooncake_ib_device"] == ",".join(group.ib_devices)
    assert (settings["host"], settings["port"]) == ("0.0.0.0", group.http_port)
    assert settings["admin_api_key"] == group.admin_key
    assert settings["enable_metrics"] is True


def attention_ranks(judge: Judge, settings: Any) -> int:
    match judge.contract.attention_parallelism:
        case AttentionParallelism.DP_SIZE:
            assert settings["enable_dp_attention"] is True
            return int(settings["dp_size"])
        case AttentionParallelism.ATTN_DP_SIZE:
            return int(settings["attn_dp_size"])


def test_devices_are_left_to_the_engine_when_none_are_named(judge: Judge) -> None:
    verdict = judge.verdict(judge.leader(launch(ib_devices=())))
    assert verdict.accepted, verdict.output
    assert verdict.resolved is not None
    assert verdict.resolved["mooncake_ib_device"] is None


def test_several_devices_are_one_list(judge: Judge) -> None:
    verdict = judge.verdict(judge.leader(launch(ib_devices=("mlx5_0", "mlx5_1"))))
    assert verdict.accepted, verdict.output
    assert verdict.resolved is not None
    assert verdict.resolved["mooncake_ib_device"] == "mlx5_0,mlx5_1"


def test_the_users_flags_cannot_outrank_the_operators(judge: Judge) -> None:
    sneaked_past_admission = ("--tp-size", "2", "--max-ep-size=4", "--host", "127.0.0.1")
    verdict = judge.verdict(judge.leader(launch(extra_args=sneaked_past_admission)))
    assert verdict.accepted, verdict.output
    assert verdict.resolved is not None
    assert verdict.resolved["tp_size"] == 4
    assert verdict.resolved["max_ep_size"] == 8
    assert verdict.resolved["host"] == "0.0.0.0"


def test_the_judge_is_the_release_that_the_contract_names(judge: Judge) -> None:
    options = {spelling for option in judge.worker.options() for spelling in option["spellings"]}
    by_size = judge.contract.attention_parallelism is AttentionParallelism.ATTN_DP_SIZE
    assert ("--attn-dp-size" in options) == by_size
    image = f"lmsysorg/sglang:v{judge.contract.version}-cu128"
    assert contract_for(version_from_image(image) or "") == judge.contract
