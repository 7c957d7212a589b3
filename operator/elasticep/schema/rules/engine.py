"""Rules about the engine: its image, its command line, its ports, its key."""

from elasticep.engine import ports
from elasticep.engine.contract import (
    KNOWN_VERSIONS,
    MINIMUM_LEADER_RANKS,
    known_image_pattern,
    known_version_pattern,
)
from elasticep.schema.rules.rule import Reason, Rule, formatted, literal, no_placeholder

_IMAGE = (
    r"^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*"
    r"(:[A-Za-z0-9_][-A-Za-z0-9_.]{0,127})?(@sha256:[a-f0-9]{64})?$"
)
_KNOWN = ", ".join(KNOWN_VERSIONS)
_OBJECT_NAME = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"
_LAST = f"self.distInitPort + {ports.LAST_RENDEZVOUS}"
_HANDSHAKE = f"self.distInitPort + {ports.HANDSHAKE}"
_DATA_KEY = r"^[-._A-Za-z0-9]+$"


def _port_is_free(port: str, *, field: str, other: str) -> Rule:
    return Rule(
        at="spec.engine",
        field=field,
        holds=f"({port} < self.distInitPort || {port} > {_LAST}) && {port} != {_HANDSHAKE}",
        message_expression=formatted(
            f"{other} %d is one of the rendezvous ports %d to %d and %d: move port or distInitPort"
            " away from the other",
            port,
            "self.distInitPort",
            _LAST,
            _HANDSHAKE,
        ),
    )


ENGINE = (
    no_placeholder(
        at="spec.model.path", instead="a name on the model hub, or a path in the container"
    ),
    Rule(
        at="spec.model.path",
        holds=r"!self.matches('^-|\\s')",
        message="a model's name or path holds no blank and does not start with '-'",
    ),
    no_placeholder(at="spec.engine.image", instead="an image, such as lmsysorg/sglang:v0.5.19"),
    Rule(
        at="spec.engine.image",
        holds=f"self.matches({literal(_IMAGE)})",
        message="an image is written REGISTRY/NAME:TAG, its name in lower case, such as"
        " lmsysorg/sglang:v0.5.19",
    ),
    Rule(
        at="spec.engine.version",
        holds=f"self.matches({literal(known_version_pattern())})",
        message=f"no contract is known for this SGLang release: use one of {_KNOWN}",
    ),
    Rule(
        at="spec.engine",
        field=".version",
        holds=f"has(self.version) || self.image.matches({literal(known_image_pattern())})",
        message="the image's tag does not name a known SGLang release: set version to the one in"
        f" the image, one of {_KNOWN}",
        reason=Reason.REQUIRED,
    ),
    Rule(
        at="spec.leader.ranks",
        holds=f"self >= {MINIMUM_LEADER_RANKS}",
        message="SGLang takes no joiner when it is launched with one rank: set leader.ranks to at"
        f" least {MINIMUM_LEADER_RANKS}",
    ),
    Rule(
        at="spec.engine.adminKeySecretRef.name",
        holds=f"self.matches({literal(_OBJECT_NAME)})",
        message="a Secret's name holds only a-z, 0-9, '-' and '.', and starts and ends with a"
        " letter or digit",
    ),
    Rule(
        at="spec.engine.adminKeySecretRef.key",
        holds=f"self.matches({literal(_DATA_KEY)})",
        message="a key within a Secret holds only letters, digits, '-', '_' and '.'",
    ),
    Rule(
        at="spec.engine.command",
        holds="size(self) < 2 || self[1] != '-c'",
        message="a shell would not pass the engine's arguments on: name the program itself, such"
        " as python3 -m sglang.launch_server",
    ),
    _port_is_free("self.port", field=".port", other="port"),
    _port_is_free(
        f"self.port + {ports.BESIDE_HTTP}",
        field=".port",
        other=f"the engine also uses port + {ports.BESIDE_HTTP}, and",
    ),
)
