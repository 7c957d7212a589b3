"""A machine for the testbed to come and go on, beside whatever cluster is up on this one."""

from collections.abc import Iterator

import pytest
from tests.testbed.machine import Machine, machine_apart


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine apart, without a testbed on it."""
    # /tmp may be memory; a node's disk is a few hundred links to the cache's, on the same disk.
    directory = tmp_path_factory.mktemp("machine")
    with machine_apart(name=f"elasticep-test-{directory.name}", state=directory / "state") as made:
        yield made
