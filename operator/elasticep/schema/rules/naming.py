"""Rules about the group's own name, from which all others are derived."""

from elasticep.api import names
from elasticep.schema.rules.rule import Rule

NAMING = (
    Rule(
        at="",
        field=".metadata.name",
        holds="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
        message="the Service of the group bears its name, so it must start with a letter, hold"
        " only a-z, 0-9 and '-', and not end with '-'",
    ),
    Rule(
        at="",
        field=".metadata.name",
        holds=f"self.metadata.name.matches('^.{{0,{names.MAX_GROUP_NAME}}}$')",
        message=f"shorten the name to at most {names.MAX_GROUP_NAME} characters, since the names of"
        " pods are made from it",
    ),
)
