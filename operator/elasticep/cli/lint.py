"""``elasticep lint``: what is wrong with a file, in the words of the API server."""

import sys
from collections.abc import Iterable

from elasticep.cli.groups import Candidate, ExitCode, examine, report


def lint(files: Iterable[str]) -> ExitCode:
    """Prints all that is wrong with the groups in ``files``, and which of them are right."""
    seen = list(examine(files))
    code = report(seen, errors_to=sys.stdout)
    for item in seen:
        if isinstance(item, Candidate) and not item.findings:
            print(f"{item.title}: ok")
    return code
