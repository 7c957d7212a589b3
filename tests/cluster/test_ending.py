"""Deleting a group leaves nothing behind, whoever is there to see it."""

import pytest
from tests.cluster.groups import Namespace, eventually
from tests.cluster.moves import leftovers
from tests.cluster.operator_pod import OperatorPod

pytestmark = pytest.mark.cluster


def test_a_deleted_group_leaves_nothing_behind(namespace: Namespace) -> None:
    group = namespace.create_group(replicas=2)
    group.await_size(6)
    assert leftovers(namespace)

    namespace.kubectl("delete", "eepg", group.name, "--timeout=10s")

    eventually(lambda: not leftovers(namespace), within=90)


@pytest.mark.disturbs
def test_a_group_deleted_while_the_operator_is_down_leaves_nothing_behind(
    namespace: Namespace, operator: OperatorPod
) -> None:
    group = namespace.create_group(replicas=2)
    group.await_size(6)
    operator.stop()

    namespace.kubectl("delete", "eepg", group.name, "--timeout=10s")

    eventually(lambda: not leftovers(namespace), within=90)


def test_a_group_of_the_same_name_follows_at_once(namespace: Namespace) -> None:
    first = namespace.create_group(replicas=2)
    first.await_size(6)
    namespace.kubectl("delete", "eepg", first.name, "--wait=false")

    second = namespace.create_group(replicas=2)

    eventually(
        lambda: (
            second.read()["metadata"].get("deletionTimestamp") is None
            and second.effective() == 6
            and second.condition("Ready")[0] == "True"
        ),
        within=120,
        explain=second.describe,
    )
    owners = {pod["metadata"]["ownerReferences"][0]["uid"] for pod in second.pods()}
    assert owners == {second.read()["metadata"]["uid"]}
