"""Rules about where joiners run."""

from elasticep.api import names
from elasticep.schema.rules.metadata import KEY
from elasticep.schema.rules.rule import Rule, literal, no_placeholder

_WITHIN = "spec.placement.within"
_EXAMPLE = "topology.kubernetes.io/zone"

PLACEMENT = (
    no_placeholder(at=_WITHIN, instead=f"the key of a node label, such as {_EXAMPLE}"),
    Rule(
        at=_WITHIN,
        holds=f"self.matches({literal(KEY)})",
        message="the key of a node label is written NAME or DOMAIN/NAME, of letters, digits, '-',"
        f" '_' and '.', such as {_EXAMPLE}",
    ),
    Rule(
        at="spec",
        field=".placement",
        holds="!has(self.placement) || !self.placement.required"
        f" || self.placement.within != {literal(names.NODE_NAME_LABEL)}"
        " || !has(self.template) || !has(self.template.spec)"
        " || !has(self.template.spec.hostNetwork) || !self.template.spec.hostNetwork",
        message="with hostNetwork no two pods of a group run on the same node: choose a domain of"
        " several nodes, or set required to false",
    ),
)
