"""The real SGLang refuses wrong command lines with texts that the signatures know."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from tests.contract.judge import MODEL, Judge, Line, lines, with_value, without

from elasticep.engine.crash_signatures import classify_text
from sglang_resolver.verdict import Verdict

pytestmark = pytest.mark.contract


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """What makes a right line wrong, and what the engine's text is then classified as."""

    change: Callable[[Line], Line]
    reason: str
    joiner: bool = False
    joiner_ranks: int = 2
    exit_code: int = 1

    def line(self, judge: Judge) -> Line:
        leader, joiner, *_ = lines(judge.group(joiner_ranks=self.joiner_ranks))
        return self.change(joiner if self.joiner else leader)


def no_graph_flags(line: Line) -> Line:
    line = without(line, "--cuda-graph-backend-decode", values=1)
    return without(line, "--cuda-graph-backend-prefill", values=1)


def of_one_rank(line: Line) -> Line:
    ranks = ("--tp-size", "--ep-size", "--dp-size", "--attn-dp-size", "--elastic-ep-initial-size")
    for flag in set(ranks).intersection(line):
        line = with_value(line, flag, "1")
    return line


def replaced(flag: str, value: str) -> Callable[[Line], Line]:
    return lambda line: with_value(line, flag, value)


def added(*arguments: str) -> Callable[[Line], Line]:
    return lambda line: [*line, *arguments]


def dropped(flag: str, *, values: int) -> Callable[[Line], Line]:
    return lambda line: without(line, flag, values=values)


WRONG_LINES = {
    "prefill graph": Wrong(
        change=replaced("--cuda-graph-backend-prefill", "breakable"), reason="CudaGraphEnabled"
    ),
    "breakable decode graph": Wrong(
        change=replaced("--cuda-graph-backend-decode", "breakable"), reason="CudaGraphEnabled"
    ),
    "joiner as node 0": Wrong(
        change=replaced("--node-rank", "0"), reason="JoinerNodeRank", joiner=True
    ),
    "joiner as node 2": Wrong(
        change=replaced("--node-rank", "2"), reason="JoinerNodeRank", joiner=True
    ),
    "joiner without node rank": Wrong(
        change=dropped("--node-rank", values=1), reason="JoinerNodeRank", joiner=True
    ),
    "one-rank joiner, dense layers split": Wrong(
        change=dropped("--moe-dense-tp-size", values=1),
        reason="MoeDenseTpSize",
        joiner=True,
        joiner_ranks=1,
    ),
    "other all-to-all": Wrong(
        change=replaced("--moe-a2a-backend", "deepep"), reason="WrongA2ABackend"
    ),
    "no all-to-all": Wrong(change=dropped("--moe-a2a-backend", values=1), reason="WrongA2ABackend"),
    "waterfill": Wrong(change=added("--enable-waterfill"), reason="WrongA2ABackend"),
    "other elastic backend": Wrong(
        change=replaced("--elastic-ep-backend", "nixl"), reason="WrongElasticBackend"
    ),
    "no elastic backend": Wrong(
        change=dropped("--elastic-ep-backend", values=1), reason="WrongElasticBackend"
    ),
    "joiner past the reserved size": Wrong(
        change=replaced("--elastic-ep-join-rank-offset", "7"),
        reason="MaxEpSizeExceeded",
        joiner=True,
    ),
    "unknown device": Wrong(
        change=replaced("--mooncake-ib-device", "SET-ME"), reason="RdmaDeviceName"
    ),
    "one rank": Wrong(change=of_one_rank, reason="InvalidArguments"),
    "nothing to grow to": Wrong(change=replaced("--max-ep-size", "4"), reason="InvalidArguments"),
    "joiner at no offset": Wrong(
        change=replaced("--elastic-ep-join-rank-offset", "0"),
        reason="InvalidArguments",
        joiner=True,
    ),
    "joiner before the leader's launch size": Wrong(
        change=replaced("--elastic-ep-initial-size", "6"), reason="InvalidArguments", joiner=True
    ),
    "joiner without a launch size": Wrong(
        change=dropped("--elastic-ep-initial-size", values=1),
        reason="InvalidArguments",
        joiner=True,
    ),
    "other launch size": Wrong(
        change=replaced("--elastic-ep-initial-size", "2"), reason="InvalidArguments"
    ),
    "no time to scale": Wrong(
        change=replaced("--elastic-ep-scale-timeout", "0"), reason="InvalidArguments"
    ),
    "load-aware balancing": Wrong(
        change=replaced("--load-balance-method", "total_tokens"), reason="InvalidArguments"
    ),
    "language-model head split": Wrong(
        change=dropped("--enable-dp-lm-head", values=0), reason="InvalidArguments"
    ),
    "two tokenizers": Wrong(change=added("--tokenizer-worker-num", "2"), reason="InvalidArguments"),
    "expert backup": Wrong(
        change=added("--enable-elastic-expert-backup"), reason="InvalidArguments"
    ),
    "ray": Wrong(change=added("--use-ray"), reason="InvalidArguments"),
    "pipeline": Wrong(change=added("--pp-size", "2"), reason="InvalidArguments"),
    "balancing that ignores the size": Wrong(
        change=added("--enable-eplb", "--eplb-algorithm", "deepseek"), reason="InvalidArguments"
    ),
    "unknown flag": Wrong(change=added("--no-such-flag"), reason="InvalidArguments", exit_code=2),
    "no number": Wrong(
        change=replaced("--tp-size", "four"), reason="InvalidArguments", exit_code=2
    ),
    "no value": Wrong(change=added("--revision"), reason="InvalidArguments", exit_code=2),
    "ambiguous flag": Wrong(
        change=added("--elastic-ep", "1"), reason="InvalidArguments", exit_code=2
    ),
    "no model": Wrong(
        change=dropped(f"--model-path={MODEL}", values=0), reason="InvalidArguments", exit_code=2
    ),
}


@pytest.mark.parametrize("wrong", WRONG_LINES.values(), ids=WRONG_LINES)
def test_a_wrong_line_ends_with_a_known_text(judge: Judge, wrong: Wrong) -> None:
    verdict = judge.verdict(wrong.line(judge))
    assert reason_of(verdict) == wrong.reason, verdict.output[-1000:]
    assert verdict.exit_code == wrong.exit_code


def test_a_pod_without_rdma_devices_is_told_apart_from_a_wrong_name(judge: Judge) -> None:
    verdict = judge.worker.resolve(lines(judge.group())[0], infiniband=None)
    assert reason_of(verdict) == "RdmaDeviceMissing"


@pytest.mark.parametrize("backend", ["disabled", "full"])
def test_decode_graphs_are_allowed_exactly_where_the_contract_says(
    judge: Judge, backend: str
) -> None:
    line = with_value(lines(judge.group())[0], "--cuda-graph-backend-decode", backend)
    assert judge.verdict(line).accepted == (backend in judge.contract.decode_graph_backends)


def test_a_line_without_graph_flags_is_refused_where_decode_graphs_are(judge: Judge) -> None:
    for verdict in judge.verdicts(no_graph_flags(line) for line in lines(judge.group())):
        if "full" in judge.contract.decode_graph_backends:
            assert verdict.accepted, verdict.output
        else:
            assert reason_of(verdict) == "CudaGraphEnabled"


def test_the_deprecated_graph_switch_ranks_below_the_flag_of_a_phase(judge: Judge) -> None:
    line = no_graph_flags(lines(judge.group())[0])
    switched_off = [*line, "--disable-cuda-graph"]
    assert judge.verdict(switched_off).accepted
    tuned_later = [*switched_off, "--cuda-graph-backend-prefill", "breakable"]
    assert reason_of(judge.verdict(tuned_later)) == "CudaGraphEnabled"


def reason_of(verdict: Verdict) -> str:
    """The classified reason of a refusal."""
    assert not verdict.accepted
    signature = classify_text(verdict.output)
    assert signature is not None, verdict.output
    return signature.reason
