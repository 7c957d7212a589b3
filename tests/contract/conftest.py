"""The real SGLang releases, one after the other: 0.5.19 and 0.5.23, or all with --all-versions."""

from collections.abc import Iterator

import pytest
from tests.contract.judge import Judge

from elasticep.engine.contract import KNOWN_VERSIONS, contract_for
from sglang_resolver.warm_worker import WarmWorker

OLDEST_AND_NEWEST = (KNOWN_VERSIONS[0], KNOWN_VERSIONS[-1])


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-versions",
        action="store_true",
        help="judge with every SGLang release that has a contract",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "judge" in metafunc.fixturenames:
        every = metafunc.config.getoption("--all-versions", default=False)
        versions = KNOWN_VERSIONS if every else OLDEST_AND_NEWEST
        metafunc.parametrize("judge", versions, indirect=True, scope="session")


@pytest.fixture(scope="session")
def judge(request: pytest.FixtureRequest) -> Iterator[Judge]:
    reporter = request.config.pluginmanager.get_plugin("terminalreporter")
    worker = WarmWorker(request.param, reporter.write_line)
    worker.start()
    yield Judge(contract_for(request.param), worker)
    worker.close()
