import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elasticep.engine.contract import (
    KNOWN_VERSIONS,
    AttentionParallelism,
    UnknownEngineVersion,
    contract_for,
    known_image_pattern,
    known_version_pattern,
    version_from_image,
)


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("lmsysorg/sglang:v0.5.19", "0.5.19"),
        ("lmsysorg/sglang:0.5.19", "0.5.19"),
        ("lmsysorg/sglang:v0.5.20.post1", "0.5.20.post1"),
        ("lmsysorg/sglang:v0.5.23-cu128-b200", "0.5.23"),
        ("docker.io/lmsysorg/sglang:v0.5.19@sha256:" + "0" * 64, "0.5.19"),
        ("registry.example.com:5000/sglang:v0.5.21", "0.5.21"),
        ("registry.example.com:5000/sglang", None),
        ("lmsysorg/sglang", None),
        ("lmsysorg/sglang:latest", None),
        ("lmsysorg/sglang:dev-v0.5.19", None),
        ("lmsysorg/sglang:v0.5.19rc1", None),
        ("lmsysorg/sglang:v0.5", None),
        ("lmsysorg/sglang@sha256:" + "0" * 64, None),
        ("", None),
    ],
)
def test_a_version_is_read_from_a_tag_that_says_one(image: str, version: str | None) -> None:
    assert version_from_image(image) == version


@pytest.mark.parametrize("version", KNOWN_VERSIONS)
def test_a_post_release_follows_its_release(version: str) -> None:
    assert contract_for(version).version == version
    assert contract_for(f"{version}.post2") == contract_for(version)


@pytest.mark.parametrize("version", ["0.5.18", "0.5.24", "0.5.1", "0.5.190", "v0.5.19", "", "0.5"])
def test_an_unknown_version_is_refused_with_the_known_ones(version: str) -> None:
    with pytest.raises(UnknownEngineVersion) as refusal:
        contract_for(version)
    assert all(known in str(refusal.value) for known in KNOWN_VERSIONS)


def test_attention_parallelism_changes_its_spelling_with_0_5_22() -> None:
    by_size = [
        version
        for version in KNOWN_VERSIONS
        if contract_for(version).attention_parallelism is AttentionParallelism.ATTN_DP_SIZE
    ]
    assert by_size == ["0.5.22", "0.5.23"]


_TAGS = st.from_regex(r"v?0\.5\.(19|2[0-9])(\.post[0-9])?(-[a-z0-9-]{0,6})?", fullmatch=True)
_REPOSITORIES = st.sampled_from(["sglang", "lmsysorg/sglang", "localhost:5000/team/sglang"])
_DIGESTS = st.sampled_from(["", "@sha256:" + "a" * 64])


@given(repository=_REPOSITORIES, tag=_TAGS | st.sampled_from(["latest", "v0.5"]), digest=_DIGESTS)
def test_the_pattern_for_images_agrees_with_the_reading_of_tags(
    repository: str, tag: str, digest: str
) -> None:
    image = f"{repository}:{tag}{digest}"
    version = version_from_image(image)
    known = version is not None and re.search(known_version_pattern(), version) is not None
    assert (re.search(known_image_pattern(), image) is not None) == known


@given(version=st.from_regex(r"v?0\.5\.[0-9]{1,3}(\.post[0-9]+)?", fullmatch=True))
def test_the_pattern_for_versions_agrees_with_the_contracts(version: str) -> None:
    try:
        contract_for(version)
    except UnknownEngineVersion:
        assert not re.search(known_version_pattern(), version)
    else:
        assert re.search(known_version_pattern(), version)
