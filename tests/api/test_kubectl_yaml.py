"""`elasticep lint` judges what kubectl would send, so both must read YAML alike."""

import json

from tests.api.conftest import ApiServer

from elasticep.cli.manifest import read_documents

SCALARS = """\
3  3.0  1e3  12e03  1.5e3  1e-3  .5  5.  +3  -0x1F  0x1F  0b11  010  0o10  08  1_000  1__0  _1
1:30  2026-03-04  2026-03-04T05:06:07Z  0.5.19  ~  null  Null  nULL  yes  No  ON  off  True  tRUE
yEs  y  N  '3'  "yes"  0x  .inf. 9223372036854775807  -  <<x  =
"""


def test_scalars_are_read_as_kubectl_reads_them(apiserver: ApiServer) -> None:
    scalars = SCALARS.split()
    lines = "".join(f"  - {scalar}\n" for scalar in scalars)
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n{lines}"
    sent = apiserver.kubectl(
        *("create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-"), stdin=text
    )
    assert sent.returncode == 0, sent.stderr
    (document,) = read_documents(text)
    # As text, since true and 1 are equal to Python.
    ours = [json.dumps(value) for value in document.content["data"]]
    theirs = [json.dumps(value) for value in json.loads(sent.stdout)["data"]]
    assert list(zip(scalars, ours, strict=True)) == list(zip(scalars, theirs, strict=True))
