"""Every word that can stand as a reason, with what it means and what to do.

Words that the engine's last words lead to stand beside the fragments that they are found by, in
`elasticep.engine.crash_signatures`.
"""

from elasticep.api.reasons.in_the_way import Blocked, Engine, Loss
from elasticep.api.reasons.kubernetes import Kubelet, Node, Scheduler
from elasticep.api.reasons.on_the_way import Happening, Phase, Progress, Settled
from elasticep.api.reasons.word import AnyWord, ForeignWord, Outlook, ReasonWord

TOPICS: tuple[type[ReasonWord], ...] = (
    Settled,
    Progress,
    Phase,
    Blocked,
    Scheduler,
    Kubelet,
    Engine,
    Loss,
    Node,
    Happening,
)
"""All words, by what they are about, from the quiet to the loud."""

_KNOWN = {str(each): each for topic in TOPICS for each in topic}


def word(text: str) -> AnyWord:
    """The explained word that is spelt so, or else somebody else's."""
    return _KNOWN.get(text) or ForeignWord(text)


__all__ = [
    "TOPICS",
    "AnyWord",
    "Blocked",
    "Engine",
    "ForeignWord",
    "Happening",
    "Kubelet",
    "Loss",
    "Node",
    "Outlook",
    "Phase",
    "Progress",
    "ReasonWord",
    "Scheduler",
    "Settled",
    "word",
]
