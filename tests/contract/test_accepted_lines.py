"""What admission takes is rendered into command lines that the real SGLang takes, as meant."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.contract.judge import ADMIN_KEY, LEADER_IP, Group, Judge, lines

from elasticep.engine.contract import AttentionParallelism
from sglang_resolver.verdict import Verdict

pytestmark = pytest.mark.contract

EXTRA_ARGUMENTS = {
    "none": (),
    "memory": ("--mem-fraction-static", "0.85", "--max-running-requests=64"),
    "balanced experts": (
        *("--enable-eplb", "--ep-num-redundant-experts", "24"),
        *("--deepep-mode", "low_latency", "--eplb-rebalance-num-iterations", "200"),
    ),
    "many values": ("--log-level", "info", "--tokenizer-metrics-allowed-custom-labels", "tenant"),
}


@pytest.mark.parametrize("extra", EXTRA_ARGUMENTS.values(), ids=EXTRA_ARGUMENTS)
@pytest.mark.parametrize("joiner_ranks", [1, 2, 4])
@pytest.mark.parametrize("leader_ranks", [2, 4, 8])
def test_a_group_is_accepted_at_every_size(
    judge: Judge, leader_ranks: int, joiner_ranks: int, extra: tuple[str, ...]
) -> None:
    group = judge.group(leader_ranks=leader_ranks, joiner_ranks=joiner_ranks, joiners=3, args=extra)
    leader, *joiners = judge.verdicts(lines(group))
    settings = accepted(judge, leader, group, ranks=leader_ranks)
    assert (settings["nnodes"], settings["node_rank"]) == (1, 0)
    assert settings["ep_join_mode"] is None
    assert len(joiners) == 3
    for number, joiner in enumerate(joiners):
        settings = accepted(judge, joiner, group, ranks=joiner_ranks)
        assert (settings["nnodes"], settings["node_rank"]) == (2, 1)
        assert settings["ep_join_mode"] == "scale"
        assert settings["ep_join_rank_offset"] == leader_ranks + number * joiner_ranks


def accepted(judge: Judge, verdict: Verdict, group: Group, *, ranks: int) -> Mapping[str, Any]:
    """The settings of a line that was accepted; what must be so in both roles is."""
    assert verdict.resolved is not None, verdict.output
    settings = verdict.resolved
    assert settings["tp_size"] == settings["ep_size"] == attention_ranks(judge, settings) == ranks
    assert settings["elastic_ep_initial_size"] == group["spec"]["leader"]["ranks"]
    assert settings["max_ep_size"] == group["spec"]["maxEPSize"]
    assert settings["elastic_ep_backend"] == "mooncake"
    assert settings["elastic_ep_scale_timeout"] == 1800
    assert settings["moe_a2a_backend"] == "nixl"
    assert settings["moe_dense_tp_size"] == 1
    assert settings["load_balance_method"] == "round_robin"
    assert settings["cuda_graph_config"]["decode"]["backend"] == "disabled"
    assert settings["cuda_graph_config"]["prefill"]["backend"] == "disabled"
    assert settings["dist_init_addr"] == f"{LEADER_IP}:20000"
    assert settings["mooncake_ib_device"] == "mlx5_0"
    assert (settings["host"], settings["port"]) == ("0.0.0.0", 30000)
    assert settings["admin_api_key"] == ADMIN_KEY
    assert settings["enable_metrics"] is True
    assert settings["trust_remote_code"] is True
    return settings


def attention_ranks(judge: Judge, settings: Mapping[str, Any]) -> int:
    match judge.contract.attention_parallelism:
        case AttentionParallelism.DP_SIZE:
            assert settings["enable_dp_attention"] is True
            return int(settings["dp_size"])
        case AttentionParallelism.ATTN_DP_SIZE:
            return int(settings["attn_dp_size"])


@pytest.mark.parametrize(
    ("devices", "meant"), [((), None), (("mlx5_0", "mlx5_1"), "mlx5_0,mlx5_1")]
)
def test_devices_are_those_of_the_spec_or_left_to_the_engine(
    judge: Judge, devices: tuple[str, ...], meant: str | None
) -> None:
    verdict = judge.verdict(lines(judge.group(devices=devices))[0])
    assert verdict.resolved is not None, verdict.output
    assert verdict.resolved["mooncake_ib_device"] == meant


def test_attention_parallelism_is_spelt_as_the_release_spells_it(judge: Judge) -> None:
    options = {spelling for option in judge.worker.options() for spelling in option["spellings"]}
    by_size = judge.contract.attention_parallelism is AttentionParallelism.ATTN_DP_SIZE
    assert ("--attn-dp-size" in options) == by_size
    for verdict in judge.verdicts(lines(judge.group())):
        assert "deprecated" not in verdict.output
