"""`elasticep lint` and what it tells people and scripts."""

import io
from pathlib import Path

import pytest

from elasticep.cli import commands

REPOSITORY = Path(__file__).parents[2]

GOOD = """\
apiVersion: elasticep.dev/v1alpha1
kind: ElasticEPGroup
metadata: {name: good}
spec:
  model: {path: a/b}
  engine: {image: "lmsysorg/sglang:v0.5.19"}
  leader: {ranks: 4}
  joiner: {ranks: 2}
  maxEPSize: 8
"""
BAD = GOOD.replace("good", "bad").replace("ranks: 2", "ranks: 0")
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: front}\n"


def lint(*arguments: str) -> int:
    return commands.main(["lint", *arguments], program="elasticep")


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Writes documents to a file in the working directory; answers its name."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, *documents: str) -> str:
        Path(name).write_text("---\n".join(documents), "utf-8")
        return name

    return write


def test_a_good_group_is_clean(write, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint(write("a.yaml", GOOD)) == 0
    assert capsys.readouterr() == ("a.yaml:1: ElasticEPGroup/good: ok\n", "")


def test_each_error_has_a_line_with_file_object_and_field(
    write, capsys: pytest.CaptureFixture[str]
) -> None:
    files = write("a.yaml", SERVICE, GOOD, BAD), write("b.yaml", BAD)
    assert lint(*files) == 1
    words = (
        "ElasticEPGroup/bad: spec.joiner.ranks: Invalid value: 0: spec.joiner.ranks in body should"
        " be greater than or equal to 1"
    )
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        f"a.yaml:3: {words}",
        f"b.yaml:1: {words}",
        "a.yaml:2: ElasticEPGroup/good: ok",
    ]
    assert err == "a.yaml:1: Service/front: passed over, not an ElasticEPGroup\n"


def test_standard_input_is_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(GOOD))
    assert lint("-") == 0
    assert capsys.readouterr().out == "<stdin>:1: ElasticEPGroup/good: ok\n"


def test_a_list_is_looked_into(write, capsys: pytest.CaptureFixture[str]) -> None:
    items = "".join(f"  {line}\n" for line in BAD.splitlines()).replace("  api", "- api", 1)
    assert lint(write("a.yaml", f"apiVersion: v1\nkind: List\nitems:\n{items}")) == 1
    assert "a.yaml:1: ElasticEPGroup/bad: spec.joiner.ranks" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("maxEPSize: 8", "maxEPSize: 8\n  maxEPSize: 8"), 'line 10: key "maxEPSize" already set'),
        (("maxEPSize", "maxEpSize"), 'spec.maxEpSize: unknown field "spec.maxEpSize"'),
        (
            ("v1alpha1", "v1beta1"),
            'no matches for kind "ElasticEPGroup" in version "elasticep.dev/v1beta1": write'
            " elasticep.dev/v1alpha1",
        ),
    ],
)
def test_what_no_schema_can_say_is_an_error_too(
    write, capsys: pytest.CaptureFixture[str], change: tuple[str, str], words: str
) -> None:
    assert lint(write("a.yaml", GOOD.replace(*change))) == 1
    assert words in capsys.readouterr().out


@pytest.mark.parametrize(
    ("documents", "words"),
    [
        (["a: ["], "a.yaml: is not YAML"),
        ([SERVICE], "no ElasticEPGroup found"),
        ([""], "no ElasticEPGroup found"),
        (["- a\n", GOOD], "a.yaml:1: is not a Kubernetes object: it has no kind"),
    ],
)
def test_unusable_input_is_told_from_errors(
    write, capsys: pytest.CaptureFixture[str], documents: list[str], words: str
) -> None:
    assert lint(write("a.yaml", *documents)) == 2
    assert words in capsys.readouterr().err


def test_an_unreadable_file_hides_no_error_in_another(
    write, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("binary.yaml").write_bytes(b"\xff\xfe\xfa")
    assert lint("missing.yaml", "binary.yaml", write("a.yaml", BAD)) == 2
    out, err = capsys.readouterr()
    assert "spec.joiner.ranks" in out
    assert err.splitlines() == [
        "missing.yaml: cannot be read: No such file or directory",
        "binary.yaml: is not text in UTF-8",
    ]


@pytest.mark.parametrize(
    "file", sorted((REPOSITORY / "deploy" / "examples").glob("*.yaml")), ids=lambda file: file.name
)
def test_the_examples_are_clean(file: Path) -> None:
    assert lint(str(file)) == 0
