"""How many unanswered requests an engine's own numbers show."""

import pytest

from elasticep.control.load import unanswered_requests

IDLE = """# HELP sglang:num_running_reqs The number of running requests.
# TYPE sglang:num_running_reqs gauge
sglang:num_running_reqs{dp_rank="0"} 0.0
# TYPE sglang:http_requests_active gauge
sglang:http_requests_active{endpoint="/metrics",method="GET"} 1.0
sglang:http_requests_active{endpoint="/v1/completions",method="POST"} 0.0
sglang:http_requests_active{endpoint="/generate",method="POST"} 0.0
"""
FRESH = 'sglang:http_requests_active{endpoint="/metrics",method="GET"} 1.0\n'


def test_probes_and_scrapes_are_no_requests() -> None:
    assert unanswered_requests(IDLE) == 0
    assert unanswered_requests(FRESH) == 0


def test_the_requests_of_all_routes_count() -> None:
    busy = IDLE.replace('completions",method="POST"} 0.0', 'completions",method="POST"} 4.0')
    busier = busy.replace('generate",method="POST"} 0.0', 'generate",method="POST"} 3.0')

    assert unanswered_requests(busy) == 4
    assert unanswered_requests(busier) == 7


@pytest.mark.parametrize("text", ["", "<html>not found</html>", "up 1\n"])
def test_what_has_no_such_numbers_says_nothing(text: str) -> None:
    assert unanswered_requests(text) is None
