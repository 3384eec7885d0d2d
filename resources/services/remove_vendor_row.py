"""Take a vendor's row off the catalogue of names."""

from datetime import datetime

from django.db import transaction

from resources.inputs import checked
from resources.models import VendorRow
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit


@transaction.atomic
def remove_vendor_row(*, actor: User | None, row: VendorRow, now: datetime, note: str) -> None:
    """Names it spoke of are read as the portal's own rows have them, or are unrecognised. Idempotent."""
    if actor is not None:
        access.require_platform(actor, "policy.manage")
    said = checked(note=note)
    stored = VendorRow.objects.select_for_update().filter(pk=row.pk).first()
    if stored is None:
        return
    before = {"pattern": stored.pattern, "vendor": stored.vendor, "kind": stored.kind}
    record_audit(actor=actor, verb="vendor_row.removed", target=stored, before=before, note=said["note"], now=now)
    stored.delete()
