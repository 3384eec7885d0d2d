"""Tell leads and owners what a quota cell of theirs says now."""

from datetime import datetime

from portal.lib.clock import to_ms
from tenants.models import QuotaCell, User
from tenants.notify.events import Event
from tenants.notify.recipients import tenant_leads
from tenants.services.announce import announce


def announce_quota(*, cell: QuotaCell, actor: User | None, now: datetime, gone: bool = False) -> None:
    """In the transaction of the change. A cell that is gone leaves no rule."""
    tenant = cell.tenant
    limits = {name: None if gone else getattr(cell, name) for name in ("guarantee", "nominal", "ceiling")}
    place = {"pool": cell.pool_key, "class": cell.class_key, "resource": cell.resource}
    announce(
        event=Event.QUOTA_CHANGED,
        subject=tenant,
        facts={"scope": str(tenant), "slug": tenant.slug, **place, **limits},
        recipients=tenant_leads(tenant, actor),
        once=f"{':'.join(place.values())}:{to_ms(now)}",
        now=now,
    )
