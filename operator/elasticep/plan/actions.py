"""What a plan may ask for. Each action says why: log, event and condition share the words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Manifest = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class CreateAdminKey:
    """Make the Secret of ``manifest`` with a fresh random key in it."""

    manifest: Manifest
    why: str


@dataclass(frozen=True, kw_only=True)
class ApplyObject:
    """Bring the object to what ``manifest`` says, and make it when there is none."""

    manifest: Manifest
    why: str


@dataclass(frozen=True, kw_only=True)
class DeleteObject:
    """Delete that very object: another one under the same name is left alone."""

    kind: str
    name: str
    uid: str
    why: str


@dataclass(frozen=True, kw_only=True)
class CreatePod:
    """Make one pod under the very name that its manifest gives."""

    manifest: Manifest
    why: str


@dataclass(frozen=True, kw_only=True)
class DeletePod:
    """Delete that very pod: another one under the same name is left alone."""

    name: str
    uid: str
    grace_seconds: int | None = None
    """How long it may take to end; what the pod itself says when not given."""
    why: str


@dataclass(frozen=True, kw_only=True)
class SendTraffic:
    """Let the Service select this leader pod."""

    pod: str
    uid: str
    why: str


@dataclass(frozen=True, kw_only=True)
class StopTraffic:
    """Let the Service select this leader pod no more; requests that it has go on."""

    pod: str
    uid: str
    why: str


@dataclass(frozen=True, kw_only=True)
class RequestScale:
    """Ask an engine to serve with ``target`` ranks. Planned only with the operation in status."""

    target: int
    leader_uid: str
    """The leader pod whose engine is meant."""
    why: str


Action = (
    CreateAdminKey
    | ApplyObject
    | DeleteObject
    | CreatePod
    | DeletePod
    | SendTraffic
    | StopTraffic
    | RequestScale
)
