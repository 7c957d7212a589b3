"""The ElasticEPGroup as users write it and read it back."""

from elasticep.api.fields import ApiModel
from elasticep.api.pod_template import PodTemplate, TemplateMetadata, TemplatePodSpec
from elasticep.api.spec import (
    Engine,
    GroupSpec,
    Joiner,
    Leader,
    ModelSource,
    Rdma,
    SecretKeyRef,
)
from elasticep.api.status import (
    Condition,
    ConditionStatus,
    EPSizeStatus,
    FailureStatus,
    GroupStatus,
    IncarnationStatus,
    JoinerState,
    JoinerStatus,
    OperationStatus,
)

__all__ = [
    "ApiModel",
    "Condition",
    "ConditionStatus",
    "EPSizeStatus",
    "Engine",
    "FailureStatus",
    "GroupSpec",
    "GroupStatus",
    "IncarnationStatus",
    "Joiner",
    "JoinerState",
    "JoinerStatus",
    "Leader",
    "ModelSource",
    "OperationStatus",
    "PodTemplate",
    "Rdma",
    "SecretKeyRef",
    "TemplateMetadata",
    "TemplatePodSpec",
]
