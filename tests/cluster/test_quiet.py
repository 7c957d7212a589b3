"""What a settled group costs."""

import time

import pytest
from tests.cluster.groups import Namespace
from tests.cluster.operator_pod import operator_writes

from testbed.cluster import Cluster

pytestmark = pytest.mark.cluster
QUIET_SECONDS = 330
"""Longer than the operator's own slow look at every group, which comes every 5 min ± 10 %."""


@pytest.mark.long
def test_an_idle_group_costs_no_writes(cluster: Cluster, namespace: Namespace) -> None:
    group = namespace.create_group()
    group.await_size(8)
    time.sleep(3)
    offset = cluster.audit_log.stat().st_size
    version = group.read()["metadata"]["resourceVersion"]

    time.sleep(QUIET_SECONDS)

    assert operator_writes(namespace, since=offset) == []
    assert group.read()["metadata"]["resourceVersion"] == version


def test_applying_the_same_spec_again_changes_nothing(
    cluster: Cluster, namespace: Namespace
) -> None:
    group = namespace.create_group(replicas=1)
    group.await_size(4)
    before = group.read()
    offset = cluster.audit_log.stat().st_size

    namespace.create_group(replicas=1)
    time.sleep(5)

    assert group.read()["metadata"]["generation"] == before["metadata"]["generation"]
    assert operator_writes(namespace, since=offset) == []
