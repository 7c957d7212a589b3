"""How many stories are told."""

import pytest

QUICK = 500


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--model-runs",
        type=int,
        default=QUICK,
        help="how many random stories tests/sim tells",
    )


@pytest.fixture(scope="session")
def model_runs(pytestconfig: pytest.Config) -> int:
    """The number asked for; the option is unknown when pytest began in another folder."""
    return int(pytestconfig.getoption("--model-runs", default=QUICK))
