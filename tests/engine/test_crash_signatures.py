import pytest
from hypothesis import given
from hypothesis import strategies as st

from elasticep.engine.crash_signatures import SIGNATURES, Signature, classify_text

LAST_WORDS = {
    "AssertionError: Elastic EP runtime scale-up requires decode and prefill CUDA graphs to be"
    " disabled.": "CudaGraphEnabled",
    "AssertionError: Elastic EP runtime scale-up requires prefill CUDA graph to be disabled.": (
        "CudaGraphEnabled"
    ),
    "Elastic EP scale-up requires one joining TP group at --node-rank 1 (got 0).": (
        "JoinerNodeRank"
    ),
    "Elastic EP scale-up requires --moe-a2a-backend nixl (got moe_a2a_backend=none).": (
        "WrongA2ABackend"
    ),
    "Elastic EP joining group exceeds --max-ep-size (join_target=10, max_ep_size=8).": (
        "MaxEpSizeExceeded"
    ),
    "Elastic EP scale-up requires --pp-size 1 (got pp_size=2)": "InvalidArguments",
    "sglang serve: error: unrecognized arguments: --no-such-flag": "InvalidArguments",
    "RuntimeError: InfiniBand sysfs path not found: /sys/class/infiniband.": "RdmaDeviceMissing",
    "ValueError: Invalid IB devices specified for all GPUs: ['SET-ME'].": "RdmaDeviceName",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.": "GpuOutOfMemory",
    "RuntimeError: rank out of valid range": "RankArithmetic",
    "Requested target 8 does not match joining cohort target 6": "CohortMismatch",
    "rank recovery is unsupported after runtime scale-up": "RecoveryUnsupported",
}


@pytest.mark.parametrize(("text", "reason"), LAST_WORDS.items())
def test_last_words_are_understood(text: str, reason: str) -> None:
    for spelt in (text, text.upper(), f"Traceback (most recent call last):\n{text}\n"):
        signature = classify_text(spelt)
        assert signature is not None
        assert signature.reason == reason


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The server is fired up and ready to roll!",
        "[Elastic EP][scale] PRIMARY entering post-scale WORLD barrier (target_ep_size=6)",
        "server_args={'moe_dense_tp_size': 1, 'elastic_ep_initial_size': 4, 'max_ep_size': 8}",
        "python3 -m sglang.launch_server --moe-dense-tp-size 1 --elastic-ep-initial-size 4"
        " --max-ep-size 8 --node-rank 1 --moe-a2a-backend nixl",
    ],
)
def test_ordinary_output_is_no_crash(text: str) -> None:
    assert classify_text(text) is None


def test_the_longer_fragment_wins() -> None:
    short = "Elastic EP scale-up requires --moe-a2a-backend nixl"
    assert classify_text(f"error: argument\n{short}") == classify_text(short)


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda signature: signature.reason)
def test_a_signature_recognises_its_fragments(signature: Signature) -> None:
    for fragment in signature.fragments:
        assert classify_text(f"… {fragment} …") == signature


def test_reasons_are_words_for_conditions_and_all_differ() -> None:
    reasons = [signature.reason for signature in SIGNATURES]
    assert len(set(reasons)) == len(reasons)
    assert all(reason.isalnum() and reason[0].isupper() for reason in reasons)
    assert all(s.meaning.endswith(".") and s.advice.endswith(".") for s in SIGNATURES)


@given(st.text())
def test_any_text_is_taken(text: str) -> None:
    found = classify_text(text)
    assert found is None or any(f.lower() in text.lower() for f in found.fragments)
