"""All reasons in one table: those of the API, and those that an engine's last words lead to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from elasticep.api import reasons
from elasticep.api.reasons import Outlook, ReasonWord
from elasticep.engine.crash_signatures import SIGNATURES, Signature

_TITLES: Mapping[type[ReasonWord], str] = {
    reasons.Settled: "All is well",
    reasons.Progress: "On the way",
    reasons.Phase: "How far a growth has come",
    reasons.Blocked: "The spec, the namespace or the API server stands in the way",
    reasons.Scheduler: "A pod has no node",
    reasons.Kubelet: "A container does not start",
    reasons.Engine: "The engine cannot be asked, or will not do it",
    reasons.Loss: "A pod, ranks or a growth has failed",
    reasons.Node: "A node gave up a pod, or did not take it",
    reasons.Happening: "Told by events only",
}


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """One reason, explained."""

    word: str
    outlook: Outlook
    meaning: str
    advice: str


@dataclass(frozen=True, kw_only=True)
class Topic:
    """Reasons that are about the same thing."""

    title: str
    explanations: tuple[Explanation, ...]


def topics() -> tuple[Topic, ...]:
    """Every reason there is, each in one topic."""
    return (
        *(Topic(title=_TITLES[topic], explanations=_of(topic)) for topic in reasons.TOPICS),
        Topic(
            title="The engine's last words tell why it ended",
            explanations=tuple(map(_of_signature, SIGNATURES)),
        ),
    )


def explanation(word: str) -> Explanation | None:
    """The reason that is spelt so, whatever the case of its letters."""
    return next((each for each in _all() if each.word.lower() == word.lower()), None)


def similar(word: str) -> list[str]:
    """Reasons that ``word`` may have been meant to be, the likeliest first."""
    spelt = {each.word.lower(): each.word for each in _all()}
    near = [spelt[match] for match in get_close_matches(word.lower(), spelt)]
    holding = [full for lowered, full in spelt.items() if word.lower() in lowered]
    return list(dict.fromkeys([*near, *holding]))


def _all() -> Iterator[Explanation]:
    for topic in topics():
        yield from topic.explanations


def _of(topic: type[ReasonWord]) -> tuple[Explanation, ...]:
    return tuple(
        Explanation(word=str(each), outlook=each.outlook, meaning=each.meaning, advice=each.advice)
        for each in topic
    )


def _of_signature(signature: Signature) -> Explanation:
    return Explanation(
        word=signature.reason,
        outlook=Outlook.NEEDS_HUMAN if signature.deterministic else Outlook.PASSING,
        meaning=signature.meaning,
        advice=signature.advice,
    )
