"""Make a later release of the installed operator: what every release may change, and pods feel.

One more label on every object, hence other pods from the same spec; and one more field of the
spec, with a default, hence another spec from the same object.
"""

import compileall
import sysconfig
from pathlib import Path
from py_compile import PycInvalidationMode

PACKAGE = Path(sysconfig.get_path("purelib"), "elasticep")
EDITS = {
    "api/names.py": (
        '        "app.kubernetes.io/part-of": group,\n',
        '        "app.kubernetes.io/part-of": group,\n        "example.com/release": "next",\n',
    ),
    "api/spec.py": (
        "    scale_timeout_seconds: Annotated[",
        '    patience: int = 7\n    """New."""\n\n    scale_timeout_seconds: Annotated[',
    ),
}

for name, (old, new) in EDITS.items():
    source = PACKAGE / name
    text = source.read_text("utf-8")
    if text.count(old) != 1:
        message = f"{name} has not exactly one {old!r}: edit this file"
        raise SystemExit(message)
    source.write_text(text.replace(old, new), "utf-8")
compileall.compile_dir(PACKAGE, quiet=1, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
