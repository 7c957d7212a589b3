"""Rules about flags that are not the user's to pass, wherever a command line is written."""

from elasticep.engine.owned_flags import FLAG_FAMILIES, REFUSED_VALUES, FlagFamily
from elasticep.schema.rules.rule import Reason, Rule, literal

_COMMAND_LINES = ("spec.engine.args[]", "spec.engine.command[]")


def _family_rule(family: FlagFamily, *, at: str) -> Rule:
    beginnings = (*family.beginnings, *(f"{word}=" for word in family.words))
    whole_word = f"self in {literal(family.words)} || " if family.words else ""
    return Rule(
        at=at,
        holds=f"!({whole_word}{literal(beginnings)}.exists(start, self.startsWith(start)))",
        message=f"this flag {family.why}",
        # Not as an invalid value, which would be printed: it may be a key.
        reason=Reason.FORBIDDEN,
    )


FLAGS = tuple(
    rule
    for at in _COMMAND_LINES
    for rule in (
        *(_family_rule(family, at=at) for family in FLAG_FAMILIES),
        *(
            Rule(
                at=at,
                holds=f"self != {literal(value)} && !self.endsWith({literal(f'={value}')})",
                message=f"this value {why}",
            )
            for value, why in REFUSED_VALUES.items()
        ),
        # The kubelet replaces $(NAME), and could so make any flag of an allowed one.
        Rule(
            at=at,
            holds=r"!self.matches('^(-[^=]*)?[$][(]')",
            message="a variable could become any flag: write it only as a value, as --flag=$(NAME)",
        ),
        Rule(
            at=at,
            holds=r"!self.matches('^--?[A-Za-z][-A-Za-z0-9_]*\\s')",
            message="the engine would take this for one word: write a flag and its value as two"
            " items, or as --flag=value",
        ),
    )
)
