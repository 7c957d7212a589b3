"""What the operator and its users may do, as the API server judges it."""

import json
import time

import pytest
from tests.deploy.repository import Kubectl

from elasticep.api import names

OPERATOR = "system:serviceaccount:elasticep-system:elasticep-operator"

KEPT = ("networkpolicies.networking.k8s.io", "poddisruptionbudgets.policy")

MAY = [
    ("get", "elasticepgroups"),
    ("list", "elasticepgroups"),
    ("watch", "elasticepgroups"),
    ("patch", "elasticepgroups/status"),
    ("update", "elasticepgroups/finalizers"),
    ("list", "pods"),
    ("watch", "pods"),
    ("create", "pods"),
    ("patch", "pods"),
    ("delete", "pods"),
    ("get", "pods/log"),
    ("get", "services"),
    ("create", "services"),
    ("patch", "services"),
    *((verb, kind) for kind in KEPT for verb in ("get", "create", "patch", "delete")),
    ("get", "secrets"),
    ("create", "secrets"),
    ("create", "events.events.k8s.io"),
    ("get", "events.events.k8s.io"),
    ("update", "events.events.k8s.io"),
]

MAY_NOT = [
    # The spec is the user's.
    ("patch", "elasticepgroups"),
    ("update", "elasticepgroups"),
    ("patch", "elasticepgroups/scale"),
    ("create", "elasticepgroups"),
    ("delete", "elasticepgroups"),
    # Secrets are read one by one, by name.
    ("list", "secrets"),
    ("watch", "secrets"),
    ("patch", "secrets"),
    ("update", "secrets"),
    ("delete", "secrets"),
    # Nothing is run inside of pods, and none is ended in bulk.
    ("create", "pods/exec"),
    ("create", "pods/attach"),
    ("create", "pods/portforward"),
    ("deletecollection", "pods"),
    # What the operator has no business with.
    ("get", "nodes"),
    ("patch", "nodes"),
    ("get", "configmaps"),
    ("create", "deployments.apps"),
    ("create", "serviceaccounts"),
    ("create", "serviceaccounts/token"),
    ("create", "clusterrolebindings"),
    ("bind", "clusterroles"),
    ("escalate", "clusterroles"),
    ("impersonate", "users"),
    ("get", "customresourcedefinitions"),
    ("delete", "services"),
    # What is kept around the pods is read and written one by one, by name.
    *((verb, kind) for kind in KEPT for verb in ("list", "watch", "update", "deletecollection")),
    # A budget is there to be kept.
    ("create", "pods/eviction"),
    ("patch", "poddisruptionbudgets.policy/status"),
]


def may(kubectl: Kubectl, verb: str, resource: str, *, user: str, namespace: str) -> bool:
    """Whether the user may, in the API server's own word."""
    words = ["auth", "can-i", verb, *_target(resource), f"--as={user}", f"--namespace={namespace}"]
    return kubectl(*words).stdout.strip() == "yes"


def _target(resource: str) -> list[str]:
    kind, _, sub = resource.partition("/")
    return [kind, f"--subresource={sub}"] if sub else [kind]


@pytest.mark.parametrize(("verb", "resource"), MAY)
def test_operator_may_do_its_work_everywhere(installed: Kubectl, verb: str, resource: str) -> None:
    assert may(installed, verb, resource, user=OPERATOR, namespace="anywhere")


@pytest.mark.parametrize(("verb", "resource"), MAY_NOT)
def test_operator_may_do_nothing_else(installed: Kubectl, verb: str, resource: str) -> None:
    assert not may(installed, verb, resource, user=OPERATOR, namespace="anywhere")
    assert not may(installed, verb, resource, user=OPERATOR, namespace="elasticep-system")


def test_list_of_permissions_is_complete(installed: Kubectl) -> None:
    """A rule that is added to the role must be added, and thought about, here too."""
    role = installed(
        "get",
        "clusterrole/elasticep-operator",
        "--output=go-template={{range .rules}}{{$r := .}}{{range .resources}}{{$n := .}}"
        "{{range $r.verbs}}{{.}} {{$n}}{{range $r.apiGroups}} {{.}}{{end}}\n{{end}}{{end}}{{end}}",
    ).stdout.splitlines()
    granted = set()
    for line in role:
        verb, resource, *group = line.split()
        qualified = ".".join([resource, *group])
        granted.add((verb, qualified if qualified in {"events.events.k8s.io", *KEPT} else resource))
    # kubectl's can-i cannot tell these from what else is granted on the same objects.
    unlisted = {("get", "elasticepgroups/status"), ("get", "pods")}
    assert granted == {*MAY, *unlisted}


@pytest.mark.parametrize("verb", ["get", "update"])
def test_operator_touches_no_lease_but_its_own(installed: Kubectl, verb: str) -> None:
    def allowed(lease: str, namespace: str) -> bool:
        resource = f"leases.coordination.k8s.io/{lease}"
        words = ["auth", "can-i", verb, resource, f"--as={OPERATOR}", f"--namespace={namespace}"]
        return installed(*words).stdout.strip() == "yes"

    assert allowed("elasticep-operator", "elasticep-system")
    assert not allowed("another", "elasticep-system")
    assert not allowed("elasticep-operator", "kube-system")


USERS = [
    ("view", "get", "elasticepgroups", True),
    ("view", "patch", "elasticepgroups", False),
    ("view", "patch", "elasticepgroups/scale", False),
    ("edit", "get", "elasticepgroups/scale", True),
    ("edit", "create", "elasticepgroups", True),
    ("edit", "patch", "elasticepgroups/scale", True),
    ("edit", "patch", "elasticepgroups/status", False),
    ("admin", "delete", "elasticepgroups", True),
    ("admin", "update", "elasticepgroups/scale", True),
    ("admin", "patch", "elasticepgroups/status", False),
]


@pytest.fixture(scope="module")
def users(installed: Kubectl) -> Kubectl:
    """kubectl, once a user of each role exists and the controller has aggregated the roles."""
    for role in ("view", "edit", "admin"):
        bind = ["create", "rolebinding", role, f"--clusterrole={role}", f"--user={role}"]
        assert installed(*bind, "--namespace=default").returncode == 0
        deadline = time.monotonic() + 30
        while not may(installed, "get", "elasticepgroups", user=role, namespace="default"):
            assert time.monotonic() < deadline, f"{role} was not aggregated"
    return installed


@pytest.mark.parametrize(("role", "verb", "resource", "allowed"), USERS)
def test_roles_of_kubernetes_cover_groups(
    users: Kubectl, role: str, verb: str, resource: str, allowed: bool
) -> None:
    assert may(users, verb, resource, user=role, namespace="default") is allowed
    assert not may(users, verb, resource, user=role, namespace="kube-system")


def test_what_the_operator_makes_may_hold_up_the_deletion_of_its_group(users: Kubectl) -> None:
    """The API server of this test asks for that right, as OpenShift's does."""
    owner = names.owner_reference("lite", "8a7a8f6c-0000-4000-8000-000000000000")
    policy = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "lite-engine", "namespace": "default", "ownerReferences": [owner]},
        "spec": {"podSelector": {}},
    }
    make = ["create", "--dry-run=server", "--filename=-"]
    made = users(*make, f"--as={OPERATOR}", stdin=json.dumps(policy))
    assert made.returncode == 0, made.stderr
    refused = users(*make, "--as=edit", stdin=json.dumps(policy))
    assert "cannot set blockOwnerDeletion" in refused.stderr


def test_namespaced_operator_is_allowed_nothing_elsewhere(kubectl: Kubectl) -> None:
    """The overlay's binding, for a ServiceAccount of its own beside the cluster-wide one."""
    bound = kubectl(
        "create",
        "rolebinding",
        "only-here",
        "--clusterrole=elasticep-operator",
        "--serviceaccount=elsewhere:operator",
        "--namespace=default",
    )
    assert bound.returncode == 0, bound.stderr
    user = "system:serviceaccount:elsewhere:operator"
    assert may(kubectl, "create", "pods", user=user, namespace="default")
    assert not may(kubectl, "create", "pods", user=user, namespace="kube-system")
    assert not may(kubectl, "list", "elasticepgroups", user=user, namespace="kube-system")
