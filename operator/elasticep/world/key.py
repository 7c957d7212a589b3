"""Which group is meant."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, order=True)
class Key:
    """A group's namespace and name; all that the work queue carries."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"
