"""Take a cell out of the quota tree."""

from datetime import datetime

from django.db import transaction

from portal.lib.errors import NotFound
from tenants import access
from tenants.models import QuotaCell, User
from tenants.naming import checked
from tenants.services.announce_quota import announce_quota
from tenants.services.record_audit import record_audit


@transaction.atomic
def delete_quota(*, actor: User | None, cell: QuotaCell, now: datetime, note: str = "") -> None:
    """No rule is left at this place; those above it still hold. Nothing that runs is stopped."""
    row = QuotaCell.objects.select_for_update(of=("self",)).filter(pk=cell.pk).first()
    if row is None:
        raise NotFound(f"quota cell {cell.pk}")
    tenant = row.tenant
    if actor is not None:
        access.require(actor, "quota.change", tenant)
    said = checked(note=note)
    before = {
        "pool": row.pool_key,
        "class": row.class_key,
        "resource": row.resource,
        "guarantee": row.guarantee,
        "nominal": row.nominal,
        "ceiling": row.ceiling,
    }
    row.delete()
    announce_quota(cell=row, actor=actor, now=now, gone=True)
    record_audit(actor=actor, verb="quota.deleted", target=tenant, before=before, note=said["note"], now=now)
