"""How many unfinished requests an engine's own numbers show."""

import pytest

from elasticep.control.load import unfinished_requests

QUIET = """# HELP sglang:num_running_reqs The number of running requests.
# TYPE sglang:num_running_reqs gauge
sglang:num_running_reqs{dp_rank="0"} 0.0
sglang:num_running_reqs{dp_rank="1"} 0.0
# TYPE sglang:num_queue_reqs gauge
sglang:num_queue_reqs{dp_rank="0"} 0.0
# TYPE sglang:http_requests_active gauge
sglang:http_requests_active{endpoint="/metrics",method="GET"} 1.0
sglang:http_requests_active{endpoint="/v1/completions",method="POST"} 0.0
"""


@pytest.mark.parametrize(
    ("line", "becomes", "count"),
    [
        ("", "", 0),
        ('reqs{dp_rank="1"} 0.0', 'reqs{dp_rank="1"} 2.0', 2),
        ('queue_reqs{dp_rank="0"} 0.0', 'queue_reqs{dp_rank="0"} 3.0', 3),
        ('completions",method="POST"} 0.0', 'completions",method="POST"} 4.0', 4),
    ],
    ids=["idle", "running", "waiting", "being handled"],
)
def test_what_runs_waits_or_is_handled_is_unfinished(line: str, becomes: str, count: int) -> None:
    assert unfinished_requests(QUIET.replace(line, becomes)) == count


@pytest.mark.parametrize("text", ["", "<html>not found</html>", "up 1\n"])
def test_what_has_no_such_numbers_says_nothing(text: str) -> None:
    assert unfinished_requests(text) is None
