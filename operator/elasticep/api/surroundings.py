"""The parts of the spec about what is around the pods: nodes, networks, and who drains them."""

from typing import Annotated

from pydantic import Field

from elasticep.api.fields import ApiModel


class Placement(ApiModel):
    """Where joiners run, seen from their leader."""

    within: Annotated[str, Field(min_length=1, max_length=317)]
    """The key of a node label, such as that of a rack or an RDMA fabric: joiners go to nodes that
    have the same value of it as their leader's node.
    """

    required: bool = False
    """Whether a joiner that finds no such node waits, and does not go elsewhere."""


class NetworkPolicy(ApiModel):
    """Who may connect to the group's pods."""

    enabled: bool = True
    """Whether the group gets a NetworkPolicy: every port between its own pods, the engine's HTTP
    port from everywhere, nothing else. The ports between the ranks carry unauthenticated code.
    """


class DisruptionBudget(ApiModel):
    """Whether a drain of a node may evict the group's pods."""

    enabled: bool = False
    """Whether the group gets a PodDisruptionBudget that lets no pod of it be evicted: losing one
    means starting the whole group again.
    """
