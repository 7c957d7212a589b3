"""What each SGLang release asks of an elastic expert-parallel group.

Read off the published wheels (`srt/arg_groups/parallel_hook.py`) and proven against them in
`tests/contract`: a new release is a new row here once those tests accept it.
"""

import re
from dataclasses import dataclass
from enum import Enum

MINIMUM_LEADER_RANKS = 2
"""A group that can grow needs attention data parallelism, which SGLang switches off by itself
for a launch of one rank, and then refuses."""


class AttentionParallelism(Enum):
    """How a release spells attention data parallelism of `n` ranks."""

    DP_SIZE = "--enable-dp-attention --dp-size n"
    ATTN_DP_SIZE = "--attn-dp-size n"


@dataclass(frozen=True, kw_only=True)
class Contract:
    """What one release asks for."""

    version: str
    attention_parallelism: AttentionParallelism
    decode_graph_backends: tuple[str, ...]
    """Backends of the decode CUDA graph that a group which can grow may use; the first is what
    we launch with. The prefill graph must be disabled in every release."""


_DISABLED_ONLY = ("disabled",)
_RECAPTURED = ("disabled", "full")

_CONTRACTS = (
    Contract(
        version="0.5.19",
        attention_parallelism=AttentionParallelism.DP_SIZE,
        decode_graph_backends=_DISABLED_ONLY,
    ),
    Contract(
        version="0.5.20",
        attention_parallelism=AttentionParallelism.DP_SIZE,
        decode_graph_backends=_DISABLED_ONLY,
    ),
    Contract(
        version="0.5.21",
        attention_parallelism=AttentionParallelism.DP_SIZE,
        decode_graph_backends=_RECAPTURED,
    ),
    Contract(
        version="0.5.22",
        attention_parallelism=AttentionParallelism.ATTN_DP_SIZE,
        decode_graph_backends=_RECAPTURED,
    ),
    Contract(
        version="0.5.23",
        attention_parallelism=AttentionParallelism.ATTN_DP_SIZE,
        decode_graph_backends=_RECAPTURED,
    ),
)

KNOWN_VERSIONS = tuple(contract.version for contract in _CONTRACTS)
"""Every release with a contract, oldest first."""

_POST_RELEASE = r"(\.post[0-9]+)?"
_RELEASE_TAG = re.compile(rf"v?(?P<version>[0-9]+\.[0-9]+\.[0-9]+{_POST_RELEASE})(-.*)?")


class UnknownEngineVersion(Exception):  # noqa: N818 - it names what is wrong, as LookupError does
    """There is no contract for this SGLang version; the text lists those that have one."""

    def __init__(self, version: str) -> None:
        super().__init__(
            f"SGLang version {version or '(none)'} is not known; "
            f"known versions are {', '.join(KNOWN_VERSIONS)}"
        )
        self.version = version


def contract_for(version: str) -> Contract:
    """The contract of a release; a post-release follows the release that it mends.

    Raises:
        UnknownEngineVersion: there is none.
    """
    release = re.sub(rf"{_POST_RELEASE}$", "", version)
    for contract in _CONTRACTS:
        if contract.version == release:
            return contract
    raise UnknownEngineVersion(version)


def version_from_image(image: str) -> str | None:
    """The SGLang version that an image's tag says, None when it says none.

    `lmsysorg/sglang:v0.5.19-cu128` says 0.5.19; `latest`, a digest alone or a nightly tag say
    nothing, and then the user has to.
    """
    name = image.partition("@")[0]
    # The colon of a registry's port comes before the last slash.
    tag = name.rpartition("/")[2].partition(":")[2]
    found = _RELEASE_TAG.fullmatch(tag)
    return found["version"] if found else None


def known_version_pattern() -> str:
    """A regular expression, in RE2's syntax, for versions that `contract_for` takes."""
    releases = "|".join(re.escape(version) for version in KNOWN_VERSIONS)
    return rf"^({releases}){_POST_RELEASE}$"


def known_image_pattern() -> str:
    """A regular expression, in RE2's syntax, for images whose tag says a known version."""
    releases = "|".join(re.escape(version) for version in KNOWN_VERSIONS)
    return rf"^([^@]*/)?[^/:@]+:v?({releases}){_POST_RELEASE}(-[^/:@]*)?(@.*)?$"
