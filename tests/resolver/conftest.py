import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sglang_resolver import environment, warm_worker
from sglang_resolver.warm_worker import WarmWorker


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WarmWorker]:
    """A worker whose process answers at once, without SGLang."""
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    monkeypatch.setattr(environment, "ensure", lambda version, progress: tmp_path)
    script = Path(__file__).with_name("stand_in_worker.py")
    monkeypatch.setattr(warm_worker, "WORKER_SCRIPT", script)
    worker = WarmWorker("0.5.19", lambda line: None)
    yield worker
    worker.close()
