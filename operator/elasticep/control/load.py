"""How many requests an engine has not answered, in the numbers that it exports for Prometheus.

The leader's HTTP server counts every request until the last byte of its answer, whichever rank
works on it. The numbers of the schedulers do not add up to that: a joiner's are exported by its
own pod, and ``GET /v1/loads`` lists the launch ranks only.
Source: ``srt/utils/common.py`` and ``srt/managers/load_snapshot.py`` of SGLang 0.5.19 to 0.5.23.
"""

from prometheus_client.parser import text_string_to_metric_families

_BEING_ANSWERED = "sglang:http_requests_active"
_ASKED_BY_POST = "POST"
"""Generation is asked for by POST; GET is for probes and scrapes, this one among them."""


def unanswered_requests(exposition: str) -> int | None:
    """The requests that a leader has accepted and not answered in full.

    Nothing when the text does not tell, or is no exposition.
    """
    found = None
    try:
        for family in text_string_to_metric_families(exposition):
            for sample in family.samples:
                if sample.name == _BEING_ANSWERED:
                    counts = sample.labels.get("method") == _ASKED_BY_POST
                    found = (found or 0) + (round(sample.value) if counts else 0)
    except ValueError:
        return None
    return found
