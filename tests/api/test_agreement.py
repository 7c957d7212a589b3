"""Whatever is written, the API server and `elasticep lint` come to the same verdict."""

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.api.conftest import ApiServer
from tests.api.specimens import GOOD, group, put
from tests.api.verdicts import said_by_lint, said_by_server

from elasticep.cli.render import rendered


def paths(node: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The paths of everything in ``node``."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    below = [(*path, str(step)) for step, _ in items]
    deeper = [
        deep
        for step, child in (node.items() if isinstance(node, dict) else enumerate(node))
        if isinstance(child, dict | list)
        for deep in paths(child, (*path, str(step)))
    ]
    return below + deeper


SPEC_PATHS = [
    *paths({"spec": GOOD["spec"]})[1:],
    ("spec", "paused"),
    ("spec", "engine", "args"),
    ("spec", "engine", "port"),
    ("spec", "engine", "distInitPort"),
    ("spec", "engine", "version"),
    ("spec", "placement"),
    ("spec", "placement", "within"),
    ("spec", "placement", "required"),
    ("spec", "template", "metadata", "labels"),
    ("spec", "template", "spec", "containers", "0", "resources"),
    ("spec", "template", "spec", "containers", "0", "env"),
    ("spec", "template", "spec", "hostNetwork"),
    ("spec", "template", "spec", "nodeName"),
    ("spec", "template", "spec", "terminationGracePeriodSeconds"),
]
PRINTABLE = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 12)
    | st.integers(19990, 20020)
    # kubectl sends whole numbers as such; the API server stumbles over 3.0 in ways of its own.
    | st.sampled_from([0.5, -1.5, 2.25, 4096.5])
    | st.sampled_from(["SET-ME", "--tp", "0.5.20", "engine", "a/b:v0.5.22", "1Gi", "mlx5_0"])
    | PRINTABLE
)
KEYS = st.sampled_from(["name", "limits", "cpu", "nvidia.com/gpu", "ranks", "elasticep.dev/x", "a"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(changes=st.dictionaries(st.sampled_from(SPEC_PATHS), VALUES, max_size=3))
@example(changes={("spec", "replicas"): 0, ("spec", "maxEPSize"): 2})
def test_whatever_is_written_the_verdicts_agree(
    apiserver: ApiServer, changes: dict[tuple[str, ...], Any]
) -> None:
    manifest = group()
    for path, value in changes.items():
        try:
            put(manifest, list(path), value)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            continue  # an earlier change has taken this path away
    refusal = apiserver.judge(manifest)
    said = said_by_lint(manifest)
    unknown = {(field, message) for field, message in said if message.startswith("unknown field")}
    if unknown:
        assert refusal is not None
        assert all(message in refusal.message for _, message in unknown)
    else:
        assert said == said_by_server(apiserver, manifest)
    if not said:
        assert list(rendered(manifest)), "what is taken can be made"
