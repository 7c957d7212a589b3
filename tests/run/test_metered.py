"""Every answer of the API server is counted, by what was asked and how it went."""

import uuid

import pytest
from tests.kube.fake import FakeKube, Fault
from tests.kube.sample_objects import group, pod, with_status

from elasticep.kube.port import GROUPS, PODS, ForbiddenError, NotFoundError, UnavailableError
from elasticep.run.metered import MeteredKube
from elasticep.run.metrics import Metrics


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


def counted(metrics: Metrics) -> dict[tuple[str, str, str], float]:
    return {
        (s.labels["verb"], s.labels["resource"], s.labels["code"]): s.value
        for metric in metrics.registry.collect()
        for s in metric.samples
        if s.name == "elasticep_api_requests_total"
    }


async def test_what_is_done_is_counted(metrics: Metrics) -> None:
    kube = MeteredKube(kube=FakeKube(), count=metrics.request_answered)
    made = await kube.create(GROUPS, group("default"))
    await kube.replace(GROUPS, made)
    body = with_status(made, replicas=1)
    await kube.apply(GROUPS, body, manager="elasticep-status", subresource="status")
    for _ in range(2):
        assert (await kube.get(GROUPS, "default", "lite"))["status"] == {"replicas": 1}
    assert len(await kube.list(GROUPS)) == 1
    await kube.delete(GROUPS, "default", "lite", uid=made["metadata"]["uid"])
    assert counted(metrics) == {
        ("create", "elasticepgroups", "200"): 1,
        ("update", "elasticepgroups", "200"): 1,
        ("apply", "elasticepgroups/status", "200"): 1,
        ("get", "elasticepgroups", "200"): 2,
        ("list", "elasticepgroups", "200"): 1,
        ("delete", "elasticepgroups", "200"): 1,
    }


async def test_what_is_refused_is_counted_and_still_raised(metrics: Metrics) -> None:
    fake = FakeKube()
    kube = MeteredKube(kube=fake, count=metrics.request_answered)
    for error in (ForbiddenError(403, "Forbidden", "no"), UnavailableError(0, "NoAnswer", "")):
        fake.faults.append(Fault(verb="create", resource=PODS, error=error))
        with pytest.raises(type(error)):
            await kube.create(PODS, pod("default"))
    with pytest.raises(NotFoundError):
        await kube.log_tail("default", str(uuid.uuid4()), "engine", previous=True)
    assert counted(metrics) == {
        ("create", "pods", "403"): 1,
        ("create", "pods", "0"): 1,
        ("get", "pods/log", "404"): 1,
    }
