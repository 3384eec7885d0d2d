"""What was changed about a thing, from the audit trail."""

from collections.abc import Sequence

from django.db.models import Model

from tenants.access import Actor
from tenants.models import AuditEvent
from tenants.selectors.audit import audit_visible_to

SHOWN = 20


def history_of(user: Actor, target: Model, most: int = SHOWN) -> Sequence[AuditEvent]:
    """The newest records about it that the user may read; none for those who audit nothing."""
    rows = audit_visible_to(user).filter(target_type=type(target).__name__, target_id=str(target.pk), result="done")
    return list(rows[:most])
