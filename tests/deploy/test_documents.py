"""What the documents promise is there."""

import re
from pathlib import Path

import pytest
import yaml
from tests.deploy.documents import Block, all_blocks, documents, name
from tests.deploy.repository import Kubectl

from elasticep.cli import commands

_LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("document", documents(), ids=name)
def test_links_lead_somewhere(document: Path) -> None:
    targets = _LINK.findall(document.read_text("utf-8"))
    assert [t for t in targets if not (document.parent / t).exists()] == []


@pytest.mark.parametrize("document", documents(), ids=name)
def test_commands_exist(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = re.findall(r"(?:^|`)elasticep ([a-z]+)", document.read_text("utf-8"), re.MULTILINE)
    for word in set(named) - {"run"}:
        with pytest.raises(SystemExit) as ended:
            commands.main([word, "--help"], program="elasticep")
        assert ended.value.code == 0
    capsys.readouterr()


def _objects(block: Block) -> list[dict[str, object]]:
    return [each for each in yaml.safe_load_all(block.text) if "apiVersion" in each]


def test_groups_in_documents_pass_lint(tmp_path: Path) -> None:
    files = []
    for number, block in enumerate(all_blocks("yaml")):
        if "kind: ElasticEPGroup\n" in block.text and "metadata" in block.text:
            file = tmp_path / f"{number}.yaml"
            file.write_text(block.text, "utf-8")
            files.append(str(file))
    assert files
    assert commands.main(["lint", *files], program="elasticep") == 0


def test_objects_in_documents_are_taken_by_the_api_server(installed: Kubectl) -> None:
    """Groups too, and whatever stands beside them; nothing is stored."""
    taken = 0
    for block in all_blocks("yaml"):
        for manifest in _objects(block):
            done = installed(
                "create", "--dry-run=server", "-f", "-", stdin=yaml.safe_dump(manifest)
            )
            assert (done.returncode, done.stderr) == (0, ""), name(block.document)
            taken += 1
    assert taken >= 2
