import pytest

from sglang_resolver.warm_worker import WarmWorker, WorkerFailedError


def test_one_process_answers_every_question(worker: WarmWorker) -> None:
    assert not worker.warm
    first, second = worker.resolve(["--model-path", "m"]), worker.resolve([])
    assert worker.warm
    assert first.resolved is not None
    assert second.resolved is not None
    assert first.resolved["pid"] == second.resolved["pid"]


def test_devices_reach_the_worker_and_none_are_not_an_empty_list(worker: WarmWorker) -> None:
    for devices in (("mlx5_0",), (), None):
        verdict = worker.resolve([], infiniband=devices)
        assert verdict.resolved is not None
        expected = None if devices is None else list(devices)
        assert verdict.resolved["infiniband"] == expected


def test_a_refusal_is_a_verdict(worker: WarmWorker) -> None:
    verdict = worker.resolve(["refuse"])
    assert not verdict.accepted
    assert (verdict.exit_code, verdict.output) == (2, "error: argument")


def test_a_dead_worker_is_reported_with_its_last_words_and_replaced(worker: WarmWorker) -> None:
    with pytest.raises(WorkerFailedError, match="out of luck"):
        worker.resolve(["die"])
    assert worker.resolve([]).accepted
