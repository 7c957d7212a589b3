"""What a reason word is: a word for machines, and for people what it means and what to do."""

from enum import StrEnum, unique
from typing import NewType, Self


@unique
class Outlook(StrEnum):
    """What a reason asks of whoever reads it."""

    GOOD = "all is well"
    PASSING = "may pass by itself"
    NEEDS_HUMAN = "needs you"


class ReasonWord(StrEnum):
    """One CamelCase word of a condition, an event or ``status.failures``, with its explanation.

    A word cannot be used without one: that is why the two stand together. Words are part of the
    API and do not change between releases.
    """

    outlook: Outlook
    meaning: str
    """One sentence."""
    advice: str
    """What to do, in a sentence or two."""

    def __new__(cls, word: str, outlook: Outlook, meaning: str, advice: str) -> Self:
        """A member from the tuple that it is written as."""
        member = str.__new__(cls, word)
        member._value_ = word
        member.outlook = outlook
        member.meaning = meaning
        member.advice = advice
        return member


ForeignWord = NewType("ForeignWord", str)
"""A word that is somebody else's: a crash signature's, a new phase of an engine, or a reason of
a kubelet that is younger than this operator. A literal is neither this nor a `ReasonWord`, so
the type checker refuses a reason that nobody explains."""

AnyWord = ReasonWord | ForeignWord
