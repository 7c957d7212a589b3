"""Rules about how large a group is, and how large it may become."""

from elasticep.schema.rules.rule import Rule, formatted

_SMALLEST_GROWTH = "self.leader.ranks + self.joiner.ranks"
_EP_SIZE = "self.leader.ranks + (self.replicas - 1) * self.joiner.ranks"
_MOST_REPLICAS = "1 + (self.maxEPSize - self.leader.ranks) / self.joiner.ranks"

SIZES = (
    # With maxEPSize = leader.ranks SGLang would launch a group of the other kind, which takes no
    # joiner for as long as it lives, whatever replicas says later.
    Rule(
        at="spec",
        field=".maxEPSize",
        holds=f"{_SMALLEST_GROWTH} <= self.maxEPSize",
        message_expression=formatted(
            "maxEPSize %d leaves no room for a joiner: leader.ranks %d + joiner.ranks %d = %d:"
            " raise maxEPSize to at least %d, or lower leader.ranks or joiner.ranks",
            "self.maxEPSize",
            "self.leader.ranks",
            "self.joiner.ranks",
            _SMALLEST_GROWTH,
            _SMALLEST_GROWTH,
        ),
    ),
    # Its words are what `kubectl scale` prints when it asks for too much.
    Rule(
        at="spec",
        field=".replicas",
        holds=(
            f"{_SMALLEST_GROWTH} > self.maxEPSize || self.replicas == 0"
            f" || {_EP_SIZE} <= self.maxEPSize"
        ),
        message_expression=formatted(
            "replicas %d would need EP size %d (leader.ranks %d + %d x joiner.ranks %d), more than"
            " maxEPSize %d: lower replicas to at most %d, or raise maxEPSize to at least %d",
            "self.replicas",
            _EP_SIZE,
            "self.leader.ranks",
            "self.replicas - 1",
            "self.joiner.ranks",
            "self.maxEPSize",
            _MOST_REPLICAS,
            _EP_SIZE,
        ),
    ),
)
