"""Objects that an API server takes, and what an apply says of them."""

import uuid
from typing import Any

from elasticep.kube.port import Manifest

OTHER_UID = str(uuid.uuid4())


def secret(namespace: str, name: str = "one", **labels: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"namespace": namespace, "name": name, "labels": labels},
        "data": {"key": "b25l"},
    }


def pod(namespace: str, name: str = "one", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": namespace, "name": name, "labels": {"colour": "red"}},
        "spec": {"containers": [{"name": "engine", "image": "engine:1"}], **spec},
    }


def group(namespace: str, name: str = "lite", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "elasticep.dev/v1alpha1",
        "kind": "ElasticEPGroup",
        "metadata": {"namespace": namespace, "name": name},
        "spec": {
            "replicas": 1,
            "model": {"path": "deepseek-ai/DeepSeek-V2-Lite"},
            "engine": {"image": "lmsysorg/sglang:v0.5.19"},
            "leader": {"ranks": 4},
            "joiner": {"ranks": 2},
            "maxEPSize": 8,
            "rdma": {"resource": "rdma/hca_shared_devices_a", "devices": ["mlx5_0"]},
            **spec,
        },
    }


def lease(namespace: str, holder: str = "me") -> dict[str, Any]:
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"namespace": namespace, "name": "one"},
        "spec": {"holderIdentity": holder, "leaseDurationSeconds": 15},
    }


def service(namespace: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"namespace": namespace, "name": "one"},
        "spec": {"ports": [{"name": "http", "port": 80}], **spec},
    }


def only(manifest: Manifest, **metadata: Any) -> dict[str, Any]:
    """The object's identity, to say something about it in an apply."""
    where = {k: manifest["metadata"][k] for k in ("namespace", "name")}
    return {
        "apiVersion": manifest["apiVersion"],
        "kind": manifest["kind"],
        "metadata": {**where, **metadata},
    }


def with_status(manifest: Manifest, *, replicas: int, **metadata: Any) -> dict[str, Any]:
    return {**only(manifest, **metadata), "status": {"replicas": replicas}}
