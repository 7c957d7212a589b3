"""How many requests an engine has, in the numbers that it exports for Prometheus.

No single number counts them all: ``sglang:http_requests_active`` leaves out answers that are being
streamed, and the queues of a joiner's ranks are exported by the joiner's own pod only
(``GET /v1/loads`` on the leader lists the launch ranks). Together they do.
Source: ``srt/utils/common.py`` and ``srt/managers/load_snapshot.py`` of SGLang 0.5.19 to 0.5.23.
"""

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

_UNFINISHED = frozenset({"sglang:num_running_reqs", "sglang:num_queue_reqs"})
_BEING_HANDLED = "sglang:http_requests_active"
_ASKED_BY_POST = "POST"
"""Generation is asked for by POST; GET is for probes and scrapes, this one among them."""


def unfinished_requests(exposition: str) -> int | None:
    """The requests that one pod's engine runs, has waiting or is handling.

    A request may be counted twice, and none is left out; nothing when the text has no such
    numbers, or is not one.
    """
    found = None
    try:
        for family in text_string_to_metric_families(exposition):
            for sample in family.samples:
                if _counts(sample):
                    found = (found or 0) + round(sample.value)
    except ValueError:
        return None
    return found


def _counts(sample: Sample) -> bool:
    if sample.name == _BEING_HANDLED:
        return sample.labels.get("method") == _ASKED_BY_POST
    return sample.name in _UNFINISHED
