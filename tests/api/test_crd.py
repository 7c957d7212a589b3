"""The CRD is the models', and an API server takes it."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from tests.api.conftest import CRD_FILE, ApiServer

from elasticep.schema.crd import crd_yaml, group_schema
from elasticep.schema.reference import reference
from elasticep.schema.rules import RULES

PRESERVE = "x-kubernetes-preserve-unknown-fields"


def nodes(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every part of a schema below its root, with its path."""
    for name, child in schema.get("properties", {}).items():
        yield f"{path}.{name}", child
        yield from nodes(child, f"{path}.{name}")
    for mark, key in (("[]", "items"), ("{}", "additionalProperties")):
        if key in schema:
            yield path + mark, schema[key]
            yield from nodes(schema[key], path + mark)


ALL = dict(nodes(group_schema()))
OURS = {path: node for path, node in ALL.items() if path.startswith((".spec", ".status"))}


def test_the_file_is_what_the_models_say() -> None:
    assert CRD_FILE.read_text("utf-8") == crd_yaml(), (
        "run: elasticep crd > crds/elasticepgroups.yaml"
    )


def test_the_reference_is_what_the_models_say() -> None:
    written = CRD_FILE.parents[1].joinpath("docs", "api.md").read_text("utf-8")
    assert written == reference(), "run: elasticep crd --format markdown > docs/api.md"


def test_it_fits_an_annotation_so_that_plain_kubectl_apply_works() -> None:
    assert CRD_FILE.stat().st_size < 256 * 1024


def test_every_field_is_described() -> None:
    bare = [
        path for path, node in OURS.items() if path[-1] not in "]}" and "description" not in node
    ]
    assert bare == []


def bounded(node: dict[str, Any]) -> bool:
    """Whether the size of a value that ``node`` describes has a limit."""
    match node.get("type"):
        case "string":
            return "maxLength" in node or "enum" in node or node.get("format") == "date-time"
        case "array":
            return "maxItems" in node
        case "object" if "additionalProperties" in node:
            return "maxProperties" in node
        case _:
            return True


def test_every_string_list_and_map_is_bounded() -> None:
    assert [path for path, node in OURS.items() if not bounded(node)] == []


def test_every_integer_says_its_width() -> None:
    widths = {node["format"] for node in OURS.values() if node.get("type") == "integer"}
    assert widths == {"int32", "int64"}


def test_unknown_fields_are_kept_in_the_pod_template_only() -> None:
    keeping = {path for path, node in ALL.items() if PRESERVE in node}
    assert ".spec.template.spec" in keeping
    assert all(path.startswith(".spec.template.spec") for path in keeping)
    assert PRESERVE not in group_schema()


def test_status_has_no_defaults_which_nobody_would_have_reported() -> None:
    assert [path for path, node in OURS.items() if ".status" in path and "default" in node] == []


def test_every_rule_says_what_to_do_and_where() -> None:
    for rule in RULES:
        assert bool(rule.message) != bool(rule.message_expression), rule
        assert rule.at or rule.field, rule


def test_the_api_server_establishes_it_without_a_warning(apiserver: ApiServer) -> None:
    shown = apiserver.kubectl("get", "crd", "elasticepgroups.elasticep.dev", "-o", "yaml")
    conditions = yaml.safe_load(shown.stdout)["status"]["conditions"]
    assert {each["type"]: each["status"] for each in conditions} == {
        "NamesAccepted": "True",
        "Established": "True",
    }


@pytest.mark.parametrize("field", ["spec.engine", "spec.template.spec", "status.operation"])
def test_kubectl_explains_it(apiserver: ApiServer, field: str) -> None:
    explained = apiserver.kubectl("explain", f"eepg.{field}")
    assert explained.returncode == 0, explained.stderr
    assert "<no description>" not in explained.stdout
    assert "FIELDS:" in explained.stdout


def test_kubectl_shows_the_columns_in_their_order(apiserver: ApiServer, stored: str) -> None:
    narrow = apiserver.kubectl("get", "eepg", stored).stdout.splitlines()[0].split()
    wide = apiserver.kubectl("get", "eepg", stored, "-o", "wide").stdout.splitlines()[0].split()
    assert narrow == ["NAME", "READY", "REPLICAS", "EP", "REASON", "AGE"]
    assert wide == [
        *("NAME", "READY", "REPLICAS", "EP", "REASON", "DESIRED", "MODEL", "ENGINE", "AGE"),
    ]
