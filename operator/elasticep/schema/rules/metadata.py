"""Rules about the labels and annotations that the user adds to the pods."""

from elasticep.api import names
from elasticep.schema.rules.rule import Reason, Rule, literal

_LABELS = "spec.template.metadata.labels"
_ANNOTATIONS = "spec.template.metadata.annotations"

KEY = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
"""How the key of a label or an annotation is written."""

_LABEL_VALUE = r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"

_KUEUE_POD_GROUP = "kueue.x-k8s.io/pod-group-name"

_COMMON_LABELS = tuple(
    key for key in names.common_labels("", version="") if not key.startswith(f"{names.API_GROUP}/")
)


def _key_rules(at: str) -> tuple[Rule, ...]:
    return (
        Rule(
            at=at,
            holds=f"self.all(key, !key.startsWith({literal(f'{names.API_GROUP}/')}))",
            message=f"keys under {names.API_GROUP}/ belong to the operator: remove them",
            reason=Reason.FORBIDDEN,
        ),
        Rule(
            at=at,
            holds="self.all(key, !key.startsWith('argocd.argoproj.io/tracking-id')"
            " && !key.startsWith('argocd.argoproj.io/instance')"
            " && key != 'app.kubernetes.io/instance')",
            message="Argo CD would take the pods for its own and prune them: remove"
            " app.kubernetes.io/instance and argocd.argoproj.io/{instance,tracking-id}",
            reason=Reason.FORBIDDEN,
        ),
        Rule(
            at=at,
            holds=f"self.all(key, key.matches({literal(KEY)}))",
            message="a key is written NAME or DOMAIN/NAME, of letters, digits, '-', '_' and '.'",
        ),
    )


METADATA = (
    *_key_rules(_LABELS),
    *_key_rules(_ANNOTATIONS),
    Rule(
        at=_LABELS,
        holds=f"self.all(key, !(key in {literal(_COMMON_LABELS)}))",
        message=f"the operator sets {', '.join(_COMMON_LABELS)}: remove them",
        reason=Reason.FORBIDDEN,
    ),
    Rule(
        at=_LABELS,
        holds="self.all(key, !key.startsWith('kubernetes.io/') && !key.startsWith('k8s.io/'))",
        message="keys under kubernetes.io/ and k8s.io/ are Kubernetes' own: use a domain of yours",
        reason=Reason.FORBIDDEN,
    ),
    Rule(
        at=_LABELS,
        holds=f"!({literal(_KUEUE_POD_GROUP)} in self)",
        message="a joiner is made when its leader serves, so Kueue would wait for the whole pod"
        f" group for ever: remove {_KUEUE_POD_GROUP}; kueue.x-k8s.io/queue-name admits each pod as"
        " it comes",
        reason=Reason.FORBIDDEN,
    ),
    Rule(
        at=f"{_LABELS}{{}}",
        holds=f"self.matches({literal(_LABEL_VALUE)})",
        message="a label's value holds letters, digits, '-', '_' and '.', and starts and ends"
        " with a letter or digit",
    ),
)
