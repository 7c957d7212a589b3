"""`elasticep render` shows all that the operator would make."""

import io
from typing import Any

import pytest
import yaml

from elasticep.cli import commands

GROUP = """\
apiVersion: elasticep.dev/v1alpha1
kind: ElasticEPGroup
metadata: {name: moe, namespace: models}
spec:
  replicas: 3
  model: {path: a/b}
  engine: {image: "lmsysorg/sglang:v0.5.19"}
  leader: {ranks: 4}
  joiner: {ranks: 2}
  maxEPSize: 8
"""


@pytest.fixture
def render(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Renders a text; answers the objects."""

    def render(text: str) -> list[dict[str, Any]]:
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        assert commands.main(["render", "-"], program="elasticep") == 0
        return list(yaml.safe_load_all(capsys.readouterr().out))

    return render


def titles(manifests: list[dict[str, Any]]) -> list[str]:
    return [f"{manifest['kind']}/{manifest['metadata']['name']}" for manifest in manifests]


def argument(pod: dict[str, Any], flag: str) -> str:
    (engine,) = pod["spec"]["containers"]
    return engine["args"][engine["args"].index(flag) + 1]


def test_every_object_is_there_and_pods_stand_in_the_order_they_join(render) -> None:
    manifests = render(GROUP)
    assert titles(manifests) == [
        "Service/moe",
        "NetworkPolicy/moe-engine",
        "Secret/moe-admin-key",
        "Pod/moe-leader-$(INCARNATION)",
        "Pod/moe-joiner-4-$(LEADER_LIFE)",
        "Pod/moe-joiner-6-$(LEADER_LIFE)",
    ]
    assert [list(manifest)[:3] for manifest in manifests] == [
        ["apiVersion", "kind", "metadata"]
    ] * 6
    assert {manifest["metadata"]["namespace"] for manifest in manifests} == {"models"}


def test_addresses_and_keys_of_run_time_are_named_and_not_invented(render) -> None:
    *_, secret, leader, first, second = render(GROUP)
    assert secret["stringData"] == {"admin-key": "$(ADMIN_KEY)"}
    assert argument(leader, "--dist-init-addr") == "$(POD_IP):20000"
    for joiner in (first, second):
        assert argument(joiner, "--dist-init-addr") == "$(LEADER_IP):20000"
    offsets = [argument(joiner, "--elastic-ep-join-rank-offset") for joiner in (first, second)]
    assert offsets == ["4", "6"]


@pytest.mark.parametrize(
    ("replicas", "kinds"),
    [
        (0, ["Service", "NetworkPolicy", "Secret"]),
        (1, ["Service", "NetworkPolicy", "Secret", "Pod"]),
    ],
)
def test_the_wanted_size_decides_how_many_pods_there_are(
    render, replicas: int, kinds: list[str]
) -> None:
    manifests = render(GROUP.replace("replicas: 3", f"replicas: {replicas}"))
    assert [manifest["kind"] for manifest in manifests] == kinds


def test_a_secret_of_the_users_is_not_made(render) -> None:
    engine = 'engine: {adminKeySecretRef: {name: mine}, image: "lmsysorg/sglang:v0.5.19"}'
    manifests = render(GROUP.replace('engine: {image: "lmsysorg/sglang:v0.5.19"}', engine))
    assert "Secret" not in {manifest["kind"] for manifest in manifests}


def test_what_the_spec_turns_on_or_off_around_the_pods_is_there_or_not(render) -> None:
    turned = "spec:\n  networkPolicy: {enabled: false}\n  disruptionBudget: {enabled: true}"
    manifests = render(GROUP.replace("spec:", turned))
    assert titles(manifests)[:2] == ["Service/moe", "PodDisruptionBudget/moe-engine"]


def test_without_a_namespace_none_is_made_up(render) -> None:
    manifests = render(GROUP.replace(", namespace: models", ""))
    assert all("namespace" not in manifest["metadata"] for manifest in manifests)


def test_several_groups_follow_each_other(render) -> None:
    both = f"{GROUP}---\n{GROUP.replace('moe', 'other')}"
    assert [title for title in titles(render(both)) if "Service" in title] == [
        "Service/moe",
        "Service/other",
    ]


def test_the_same_file_gives_the_same_text(render) -> None:
    assert render(GROUP) == render(GROUP)


def test_nothing_is_rendered_beside_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = GROUP.replace("moe", "bad").replace("replicas: 3", "replicas: 4")
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{GROUP}---\n{bad}"))
    assert commands.main(["render", "-"], program="elasticep") == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("<stdin>:2: ElasticEPGroup/bad: spec.replicas: Invalid value: replicas 4")


def test_what_is_no_group_cannot_be_rendered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("kind: Service\n"))
    assert commands.main(["render", "-"], program="elasticep") == 2
    assert capsys.readouterr().out == ""
