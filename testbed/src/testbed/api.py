"""Asks a Kubernetes API server the few things that the driver itself needs to know.

Standard library only: a driver that boots the cluster waits with it before any client is of use.
"""

import json
import ssl
import urllib.error
import urllib.request
from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class Api:
    """An API server and the right to ask it."""

    server: str
    token: str
    trust: ssl.SSLContext

    @classmethod
    def from_kubeconfig(cls, path: Path) -> "Api":
        """The server and token of a kubeconfig that this driver wrote."""
        config = yaml.safe_load(path.read_text("utf-8"))
        cluster = config["clusters"][0]["cluster"]
        authority = b64decode(cluster["certificate-authority-data"]).decode()
        return cls(
            server=cluster["server"],
            token=config["users"][0]["user"]["token"],
            trust=ssl.create_default_context(cadata=authority),
        )

    def get(self, path: str) -> str | None:
        """The body of a successful answer; None when there is none or it tells of an error."""
        request = urllib.request.Request(  # noqa: S310 - a server that this driver started
            self.server + path, headers={"Authorization": f"Bearer {self.token}"}
        )
        # A proxy of the environment is not asked: the server is on this machine.
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self.trust)
        )
        try:
            with opener.open(request, timeout=_SECONDS) as answer:
                body: bytes = answer.read()
        except (urllib.error.URLError, OSError):
            return None
        return body.decode()

    def is_ready(self) -> bool:
        """The server says that it serves."""
        return self.get("/readyz") == "ok"

    def items(self, path: str) -> list[dict[str, Any]]:
        """The objects of a list; none when it cannot be had."""
        body = self.get(path)
        return [] if body is None else json.loads(body)["items"]

    def nodes(self) -> list[dict[str, Any]]:
        """The Node objects."""
        return self.items("/api/v1/nodes")


def is_true(obj: dict[str, Any], condition: str) -> bool:
    """The object's status has this condition, and it is True."""
    conditions = obj.get("status", {}).get("conditions", [])
    return any(each["type"] == condition and each["status"] == "True" for each in conditions)
