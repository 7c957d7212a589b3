"""What the API server refuses, and that `elasticep lint` says the same of it without one."""

from typing import Any

import pytest
from tests.api.conftest import ApiServer
from tests.api.refusals import REFUSED, TAKEN
from tests.api.specimens import group
from tests.api.verdicts import said_by_lint, said_by_server


@pytest.mark.parametrize(("fields", "field", "words"), REFUSED, ids=lambda value: str(value)[:60])
def test_a_bad_group_is_refused_in_the_same_words(
    apiserver: ApiServer, fields: dict[str, Any], field: str, words: str
) -> None:
    manifest = group(**fields)
    said = said_by_server(apiserver, manifest)
    assert any(field == where and words in message for where, message in said), said
    assert said_by_lint(manifest) == said


@pytest.mark.parametrize("fields", TAKEN, ids=lambda value: str(value)[:60])
def test_a_good_group_is_taken(apiserver: ApiServer, fields: dict[str, Any]) -> None:
    manifest = group(**fields)
    assert apiserver.judge(manifest) is None
    assert said_by_lint(manifest) == set()


@pytest.mark.parametrize(
    "field", ["bogus", "metadata.bogus", "spec.bogus", "spec.engine.bogus", "status.bogus"]
)
def test_an_unknown_field_is_an_error(apiserver: ApiServer, field: str) -> None:
    manifest = group(**{field.replace(".", "__"): 1})
    refusal = apiserver.judge(manifest)
    assert refusal is not None
    words = f'unknown field "{field}"'
    assert refusal.message.endswith(f"strict decoding error: {words}")
    assert said_by_lint(manifest) == {(field, words)}
