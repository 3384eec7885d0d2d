"""Change the period or the bounds of a grant, or end it."""

from datetime import datetime

from django.db import transaction

from portal.lib.errors import NotFound
from tenants import access
from tenants.grant_rules import bounds_of, save_grant
from tenants.models import Grant, User
from tenants.naming import changed, checked
from tenants.services.announce_grant import announce_grant
from tenants.services.record_audit import record_audit


@transaction.atomic
def change_grant(
    *,
    actor: User | None,
    grant: Grant,
    valid_from: datetime,
    valid_to: datetime | None,
    class_ceiling: str,
    largest_job_parts: int | None,
    longest_limit_ms: int | None,
    most_at_once: int | None,
    now: datetime,
    note: str = "",
) -> Grant:
    """The grant as it is now; nothing that runs is stopped. Raises Invalid as `grant_pool` does.

    Tenant and pool stay. Unchanged values leave no record.
    """
    row = Grant.objects.select_for_update(of=("self",)).filter(pk=grant.pk).first()
    if row is None:
        raise NotFound(f"grant {grant.pk}")
    tenant = row.tenant
    if actor is not None:
        access.require(actor, "quota.change", tenant)
    said = checked(note=note)
    old = bounds_of(row)
    row.valid_from, row.valid_to, row.class_ceiling = valid_from, valid_to, class_ceiling
    row.largest_job_parts, row.longest_limit_ms, row.most_at_once = largest_job_parts, longest_limit_ms, most_at_once
    before, after = changed(old, bounds_of(row))
    if not after:
        return row
    save_grant(row)
    announce_grant(grant=row, until=valid_to, actor=actor, now=now)
    pool = {"pool": row.pool_key}
    record_audit(
        actor=actor,
        verb="grant.changed",
        target=tenant,
        before=pool | before,
        after=pool | after,
        note=said["note"],
        now=now,
    )
    return row
