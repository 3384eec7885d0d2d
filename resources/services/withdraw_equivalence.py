"""Withdraw an equivalence before its end."""

from datetime import datetime

from django.db import transaction

from resources.inputs import checked
from resources.models import ClassEquivalence
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit


@transaction.atomic
def withdraw_equivalence(*, actor: User | None, equivalence: ClassEquivalence, now: datetime, note: str) -> None:
    """It holds no more; doing it twice is doing it once."""
    if actor is not None:
        access.require_platform(actor, "policy.manage")
    said = checked(note=note)
    row = ClassEquivalence.objects.select_for_update(of=("self",)).select_related("of", "by").get(pk=equivalence.pk)
    if row.withdrawn_at:
        return
    row.withdrawn_at = now
    row.save(update_fields=["withdrawn_at"])
    before = {"of": row.of.key, "by": row.by.key, "task_type": row.task_type, "valid_to": row.valid_to}
    record_audit(
        actor=actor, verb="class.equivalence_withdrawn", target=row.of, before=before, note=said["note"], now=now
    )
