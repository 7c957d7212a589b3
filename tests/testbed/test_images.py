"""An image is built again when something that it is built from has changed, and only then."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from testbed.errors import TestbedError
from testbed.images import BuiltImage, Image, content_key, copied_sources

DOCKERFILE = """\
ARG BASE
FROM ${BASE} AS built
COPY --chown=1:1 program data \\
     /opt/
FROM ${BASE}
COPY --from=built /opt /opt
ADD ["with space", "/opt/"]
"""


@pytest.fixture
def image(tmp_path: Path) -> Image:
    for name in ("program", "with space", "not copied"):
        (tmp_path / name).write_text("1")
    (tmp_path / "data" / "__pycache__").mkdir(parents=True)
    (tmp_path / "data" / "deep").write_text("1")
    (tmp_path / "data" / "__pycache__" / "compiled").write_text("1")
    dockerfile = tmp_path / "Dockerfile"
    dockerfile.write_text(DOCKERFILE)
    base = BuiltImage(reference="base", key="1", archive=tmp_path / "base.tar")
    return Image(reference="it", dockerfile=dockerfile, context=tmp_path, base=base)


def test_copied_sources_are_those_of_the_context() -> None:
    assert list(copied_sources(DOCKERFILE)) == ["program", "data", "with space"]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda image: (image.context / "program").write_text("2"), id="a file"),
        pytest.param(lambda image: (image.context / "program").chmod(0o755), id="a mode"),
        pytest.param(lambda image: (image.context / "data" / "deep").write_text("2"), id="below"),
        pytest.param(lambda image: (image.context / "data" / "new").touch(), id="a new file"),
        pytest.param(lambda image: (image.context / "data" / "deep").unlink(), id="a lost file"),
        pytest.param(lambda image: image.dockerfile.write_text(DOCKERFILE + "\n"), id="a recipe"),
    ],
)
def test_key_changes_with(image: Image, change: Callable[[Image], object]) -> None:
    before = content_key(image)
    change(image)
    assert content_key(image) != before


def test_key_changes_with_arguments_and_base(image: Image) -> None:
    assert image.base is not None
    others = [
        replace(image, arguments={"VERSION": "1"}),
        replace(image, arguments={"VERSION": "2"}),
        replace(image, base=replace(image.base, key="2")),
        replace(image, reference="that"),
        image,
    ]
    assert len({content_key(each) for each in others}) == len(others)


@pytest.mark.parametrize("name", ["not copied", "data/__pycache__/compiled"])
def test_key_stays_with_what_is_not_in_the_image(image: Image, name: str) -> None:
    before = content_key(image)
    (image.context / name).write_text("2")
    assert content_key(image) == before


def test_a_source_that_is_not_there_is_named(image: Image) -> None:
    (image.context / "program").unlink()
    with pytest.raises(TestbedError, match="copies program"):
        content_key(image)
