"""What `kubectl apply -k` brings into a cluster."""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import pytest
import yaml
from tests.deploy.repository import ROOT, Kubectl

from elasticep.run.settings import read_settings

Build = Callable[[str], list[dict[str, Any]]]

OVERLAYS = ["base", "overlays/namespaced"]


def one(objects: list[dict[str, Any]], kind: str, name: str = "elasticep-operator") -> Any:
    found = [o for o in objects if o["kind"] == kind and o["metadata"]["name"] == name]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("directory", OVERLAYS)
def test_operator_runs_with_the_least_rights_on_its_node(kustomize: Build, directory: str) -> None:
    objects = kustomize(directory)
    namespace = one(objects, "Namespace", "elasticep-system")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    pod = one(objects, "Deployment")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["resources"]["limits"]["memory"]


def test_image_is_of_this_release(kustomize: Build) -> None:
    (container,) = one(kustomize("base"), "Deployment")["spec"]["template"]["spec"]["containers"]
    assert container["image"] == f"docker.io/elasticep/operator:{version('elasticep')}"


def test_crd_is_the_one_in_the_repository(kustomize: Build) -> None:
    crd = one(kustomize("base"), "CustomResourceDefinition", "elasticepgroups.elasticep.dev")
    file = ROOT / "crds" / "elasticepgroups.yaml"
    assert crd["spec"] == yaml.safe_load(file.read_text("utf-8"))["spec"]


def test_namespaced_overlay_looks_only_where_it_is_allowed_to(kustomize: Build) -> None:
    objects = kustomize("overlays/namespaced")
    assert "ClusterRoleBinding" not in {o["kind"] for o in objects}
    allowed = one(objects, "RoleBinding")["metadata"]["namespace"]
    (container,) = one(objects, "Deployment")["spec"]["template"]["spec"]["containers"]
    assert f"--namespace={allowed}" in container["args"]


def test_arguments_are_those_that_the_operator_knows(kustomize: Build) -> None:
    (container,) = one(kustomize("overlays/namespaced"), "Deployment")["spec"]["template"]["spec"][
        "containers"
    ]
    command, *arguments = container["args"]
    assert command == "run"
    settings = read_settings(arguments, {"POD_NAMESPACE": "elasticep-system"})
    assert settings.health_port == container["ports"][0]["containerPort"]
    assert settings.namespaces == ("default",)


def test_lease_role_is_for_the_lease_that_the_operator_takes(kustomize: Build) -> None:
    settings = read_settings([], {"POD_NAMESPACE": "elasticep-system"})
    role = one(kustomize("base"), "Role", "elasticep-operator-lease")
    assert role["metadata"]["namespace"] == settings.lease_namespace
    assert role["rules"][0]["resourceNames"] == [settings.lease_name]


def test_applying_again_changes_nothing(installed: Kubectl) -> None:
    def written() -> str:
        """When anybody last wrote each object's spec: a status is no concern of an apply."""
        kinds = "serviceaccounts,services,roles,rolebindings,deployments"
        field = "{range .items[*]}{.kind}/{.metadata.name} {.metadata.generation}"
        times = "{.metadata.managedFields[?(@.manager=='kubectl')].time}{'\\n'}{end}"
        ours = ("--namespace=elasticep-system", "--selector=app.kubernetes.io/part-of=elasticep")
        return installed("get", kinds, *ours, f"--output=jsonpath={field} {times}").stdout

    before = written()
    again = installed("apply", "--server-side", "-k", "deploy/kustomize/base")
    assert again.returncode == 0
    assert written() == before
    assert "Deployment/elasticep-operator 1" in before
