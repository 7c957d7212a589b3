"""Whether an object that is not the group's stands under a name that the group needs.

Nothing is adopted: what somebody else has made is not ours to change.
"""

from elasticep.api import names
from elasticep.api.reasons import Blocked, Progress
from elasticep.plan.decision import Decision, Reason
from elasticep.plan.leader import STARTING_POLL, WAITING_POLL
from elasticep.plan.surroundings import admin_key, kept_objects
from elasticep.plan.view import View
from elasticep.world.snapshot import Existing


def name_conflict(view: View) -> Decision | None:
    """The stop, or the wait, that an object of another owner's asks for.

    No event tells of the end of such an object, so it is looked for.
    """
    for needed in (*kept_objects(view), admin_key(view)):
        existing = needed.existing
        if not needed.wanted or existing is None or existing.owner_uid == view.group.uid:
            continue
        what = f"{needed.kind} {needed.name}"
        if _left_by_predecessor(view, existing):
            reason = Reason(
                word=Progress.WAITING_FOR_OLD_OBJECTS,
                message=f"{what} of an earlier group of this name is about to be deleted",
            )
            return Decision(reason=reason, memory=view.memory, look_again=STARTING_POLL)
        reason = Reason(
            word=Blocked.NAME_CONFLICT,
            message=f"{what} exists and does not belong to this group",
        )
        return Decision(
            reason=reason,
            memory=view.memory,
            stalled=True,
            limit=reason,
            look_again=WAITING_POLL,
        )
    return None


def _left_by_predecessor(view: View, existing: Existing) -> bool:
    """Whether a group of the same name that is no more controls it: the garbage collector's."""
    return any(
        owner.get("controller") and (owner["kind"], owner["name"]) == (names.KIND, view.group.name)
        for owner in existing.content.get("metadata", {}).get("ownerReferences", ())
    )
