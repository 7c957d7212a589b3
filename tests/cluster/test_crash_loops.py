"""A group that cannot start says why, once, and stops burning GPUs."""

from typing import Any

import pytest
from tests.cluster.groups import LiveGroup, Namespace, eventually, with_faults

pytestmark = pytest.mark.cluster

KEEP_GRAPHS = """
import runpy, sys
sys.argv += ["--cuda-graph-backend-decode", "full"]
runpy.run_module("sglang.launch_server", run_name="__main__", alter_sys=True)
"""
"""A launcher that adds a flag behind the operator's back, as an image's own may do."""


def launched_by(namespace: Namespace, launcher: str) -> dict[str, Any]:
    """A pod template with a launcher of the user's own in it, at /launcher/launch.py."""
    literal = f"--from-literal=launch.py={launcher}"
    namespace.kubectl("create", "configmap", "launcher", literal)
    mount = {"name": "launcher", "mountPath": "/launcher"}
    return {
        "spec": {
            "containers": [{"name": "engine", "volumeMounts": [mount]}],
            "volumes": [{"name": "launcher", "configMap": {"name": "launcher"}}],
        }
    }


def engine(**changes: Any) -> dict[str, Any]:
    return {"image": "lmsysorg/sglang:v0.5.19", **changes}


def container_starts(group: LiveGroup) -> int:
    """How many containers of the group's pods were ever started, by the kubelets' events."""
    events = group.namespace.items("events")
    return sum(
        event.get("count") or 1
        for event in events
        if event["reason"] == "Started" and event["involvedObject"]["kind"] == "Pod"
    )


def test_an_engine_told_to_keep_its_graphs_is_stopped_with_the_advice_and_resumes_when_mended(
    namespace: Namespace,
) -> None:
    group = namespace.create_group(
        replicas=1,
        engine=engine(command=["python3", "/launcher/launch.py"]),
        template=launched_by(namespace, KEEP_GRAPHS),
    )

    group.await_condition("Stalled", "True", "CudaGraphEnabled", within=30)

    failure = group.status()["failures"]
    assert failure["lastExitCode"] == 1
    assert failure["advice"]
    assert "cuda graph" in failure["excerpt"].lower()
    assert "nextRetryAt" not in failure
    eventually(lambda: not group.pods(), within=30)
    assert container_starts(group) <= 3
    assert "CudaGraphEnabled" in group.describe()

    group.change(engine=engine(command=None))

    group.await_size(4)
    assert group.condition("Stalled") == ("False", "NotStalled")


def test_a_joiner_that_cannot_start_leaves_the_group_serving_at_its_size(
    namespace: Namespace,
) -> None:
    fault = {
        "do": "crash",
        "stage": "load",
        "signature": "rank_out_of_range",
        "when": {"role": "joiner"},
    }
    group = namespace.create_group(replicas=2, template=with_faults(fault))

    group.await_condition("ScaleLimited", "True", "RankArithmetic", within=45)

    assert group.effective() == 4
    group.await_condition("Available", "True", "Serving")
    assert group.condition("Stalled") == ("True", "RankArithmetic")
    eventually(lambda: not group.pods("joiner"), within=30)
    assert group.complete()["choices"]


def test_a_crash_that_passes_is_tried_again_after_a_back_off(namespace: Namespace) -> None:
    fault = {
        "do": "crash",
        "stage": "load",
        "signature": "cuda_out_of_memory",
        "exitCode": 1,
        "when": {"role": "joiner", "firstAttempts": 2},
    }
    group = namespace.create_group(replicas=2, template=with_faults(fault))

    eventually(
        lambda: group.status().get("failures", {}).get("reason") == "GpuOutOfMemory", within=60
    )

    group.await_size(6, within=120)


def test_a_container_killed_for_want_of_memory_is_named(namespace: Namespace) -> None:
    template = with_faults({"do": "crash", "stage": "load", "exhaustMemory": True})
    (container,) = template["spec"]["containers"]
    container["resources"] = {"limits": {"memory": "256Mi"}}
    group = namespace.create_group(replicas=1, template=template)

    group.await_condition("ScaleLimited", "True", "OOMKilled", within=90)

    assert group.status()["failures"]["lastExitCode"] == 137
    assert "memory limit" in group.status()["failures"]["advice"]
    group.change(template=None)
    group.await_size(4, within=90)


def test_an_image_that_does_not_exist_is_named_and_is_no_crash(namespace: Namespace) -> None:
    group = namespace.create_group(
        replicas=1, engine=engine(image="lmsysorg/sglang:v0.5.19-missing")
    )

    eventually(
        lambda: group.condition("Ready")[1] in {"ErrImagePull", "ImagePullBackOff"}, within=60
    )

    assert "failures" not in group.status()
    assert "lmsysorg/sglang:v0.5.19-missing" in group.message("Ready")
    group.change(engine=engine())
    group.await_size(4)


def test_a_joiner_without_a_node_leaves_the_group_serving_with_the_schedulers_words(
    namespace: Namespace,
) -> None:
    group = namespace.create_group(replicas=2, joiner={"ranks": 9}, maxEPSize=13)

    group.await_condition("ScaleLimited", "True", "Unschedulable")

    assert "nvidia.com/gpu" in group.message("ScaleLimited")
    group.await_condition("Available", "True", "Serving")
    group.scale(1)
    group.await_size(4)


def test_a_quota_is_named_and_the_group_grows_when_it_is_lifted(namespace: Namespace) -> None:
    namespace.kubectl("create", "quota", "gpus", "--hard=requests.nvidia.com/gpu=4")
    group = namespace.create_group(replicas=2)

    group.await_condition("ScaleLimited", "True", "QuotaExceeded")

    assert "exceeded quota" in group.message("ScaleLimited")
    group.await_condition("Available", "True", "Serving")
    namespace.kubectl("delete", "quota", "gpus")
    group.await_size(6, within=90)


def test_a_missing_key_secret_is_named(namespace: Namespace) -> None:
    group = namespace.create_group(
        replicas=1, engine=engine(adminKeySecretRef={"name": "mine", "key": "key"})
    )

    group.await_condition("Ready", "False", "CreateContainerConfigError")
    assert "mine" in group.message("Ready")

    namespace.kubectl("create", "secret", "generic", "mine", "--from-literal=key=s3cret")
    group.await_size(4, within=90)


def test_somebody_elses_service_under_the_groups_name_stops_it_with_the_fix(
    namespace: Namespace,
) -> None:
    namespace.kubectl("create", "service", "clusterip", "lite", "--tcp=80:80")

    group = namespace.create_group(replicas=1)

    group.await_condition("Stalled", "True", "NameConflict")
    assert "Service lite" in group.message("Stalled")
    assert not group.pods()
