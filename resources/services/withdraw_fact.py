"""Withdraw a fact of a class: what was wrongly said."""

from datetime import datetime

from django.db import transaction

from resources.inputs import checked
from resources.models import ClassFact
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit


@transaction.atomic
def withdraw_fact(*, actor: User | None, fact: ClassFact, now: datetime, note: str) -> None:
    """It holds no more; doing it twice is doing it once."""
    if actor is not None:
        access.require_platform(actor, "policy.manage")
    said = checked(note=note)
    row = ClassFact.objects.select_for_update(of=("self",)).select_related("resource_class").get(pk=fact.pk)
    if row.withdrawn_at:
        return
    row.withdrawn_at = now
    row.save(update_fields=["withdrawn_at"])
    before = {"topic": row.topic, "subject": row.subject, "amount": row.amount, "support": row.support}
    record_audit(
        actor=actor, verb="class.fact_withdrawn", target=row.resource_class, before=before, note=said["note"], now=now
    )
