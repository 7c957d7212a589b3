"""What went wrong, told with what one would look at first."""

from collections.abc import Iterator

from elasticep.api import names
from testbed.cluster import Cluster
from testbed.errors import TestbedError

_LOG_LINES = "20"


class DemoError(Exception):
    """The demo did not show what it should; the message says what is there instead."""


def diagnosis(
    cluster: Cluster, *, group: str, namespace: str, operator: str, operator_namespace: str
) -> Iterator[str]:
    """The object, its pods, and the ends of the operator's and the pods' logs.

    A look that fails says so and does not stop the rest.
    """
    here = f"--namespace={namespace}"
    there = f"--namespace={operator_namespace}"
    pods = f"--selector={names.pod_selector(group)}"
    looks = [
        ("describe", "eepg", group, here),
        ("get", "pods", here, pods, "--output=wide"),
        ("logs", here, pods, "--prefix", f"--tail={_LOG_LINES}"),
        ("get", "pods", there, "--output=wide"),
        ("logs", there, f"deployment/{operator}", f"--tail={_LOG_LINES}"),
    ]
    for look in looks:
        yield f"$ kubectl {' '.join(look)}"
        try:
            yield cluster.kubectl(*look)
        except TestbedError as error:
            yield str(error)
