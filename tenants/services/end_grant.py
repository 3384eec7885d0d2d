"""End a grant now."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import Conflict, NotFound
from tenants import access
from tenants.models import Grant, User
from tenants.naming import checked
from tenants.services.announce_grant import announce_grant
from tenants.services.record_audit import record_audit


@transaction.atomic
def end_grant(*, actor: User | None, grant: Grant, now: datetime, note: str = "") -> None:
    """From now on nothing new starts by it; what runs, runs on. One that has not begun is withdrawn altogether.

    Raises Conflict for one that is over.
    """
    row = Grant.objects.select_for_update(of=("self",)).filter(pk=grant.pk).first()
    if row is None:
        raise NotFound(f"grant {grant.pk}")
    tenant = row.tenant
    if actor is not None:
        access.require(actor, "quota.change", tenant)
    said = checked(note=note)
    if row.valid_to is not None and row.valid_to <= now:
        raise Conflict("GrantOver", _("This grant is over already; a new one can be made."))
    before = {"pool": row.pool_key, "valid_from": row.valid_from, "valid_to": row.valid_to}
    if row.valid_from >= now:
        row.delete()
    else:
        row.valid_to = now
        row.save(update_fields=["valid_to"])
    after = {"pool": row.pool_key, "valid_from": row.valid_from, "valid_to": now}
    announce_grant(grant=row, until=now, actor=actor, now=now)
    record_audit(actor=actor, verb="grant.ended", target=tenant, before=before, after=after, note=said["note"], now=now)
