"""The way in of a person: a kubeconfig and a context in it, as for kubectl."""

from dataclasses import dataclass

import yaml
from kubernetes.aio import config
from kubernetes.aio.client import ApiClient, Configuration

from elasticep.kube.client import KubeClient
from elasticep.kube.port import UnavailableError


@dataclass(frozen=True, kw_only=True)
class Access:
    """A cluster, and the namespace that is meant when none is said."""

    kube: KubeClient
    namespace: str


async def access(*, kubeconfig: str | None = None, context: str | None = None) -> Access:
    """What a kubeconfig and one of its contexts lead to.

    Args:
        kubeconfig: A file; ``$KUBECONFIG`` or else ``~/.kube/config`` when not given.
        context: A context's name; the file's current one when not given.

    Raises:
        UnavailableError: there is no such file or context, or it cannot be used.
    """
    configuration = Configuration()
    try:
        loader = await config.load_kube_config(
            config_file=kubeconfig, context=context, client_configuration=configuration
        )
    # TypeError: what the client makes of a file that holds no mapping.
    except (config.ConfigException, OSError, TypeError, yaml.YAMLError) as error:
        message = f"no usable kubeconfig: {error}"
        raise UnavailableError(0, "NoCluster", message) from error
    namespace = loader.current_context["context"].get("namespace") or "default"
    return Access(kube=KubeClient(ApiClient(configuration)), namespace=namespace)
