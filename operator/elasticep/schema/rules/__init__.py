"""What must hold beyond types and bounds: one table, of which the CRD and the lint are made."""

from elasticep.schema.rules.engine import ENGINE
from elasticep.schema.rules.flags import FLAGS
from elasticep.schema.rules.metadata import METADATA
from elasticep.schema.rules.naming import NAMING
from elasticep.schema.rules.placement import PLACEMENT
from elasticep.schema.rules.rdma import RDMA
from elasticep.schema.rules.rule import Reason, Rule
from elasticep.schema.rules.sizes import SIZES
from elasticep.schema.rules.template import TEMPLATE

RULES: tuple[Rule, ...] = (
    *NAMING,
    *SIZES,
    *ENGINE,
    *FLAGS,
    *RDMA,
    *PLACEMENT,
    *METADATA,
    *TEMPLATE,
)

__all__ = ["RULES", "Reason", "Rule"]
