"""Tell leads and owners from when until when they may use a pool."""

from datetime import datetime

from portal.lib.clock import to_ms
from tenants.models import Grant, User
from tenants.notify.events import Event
from tenants.notify.recipients import tenant_leads
from tenants.services.announce import announce


def announce_grant(*, grant: Grant, until: datetime | None, actor: User | None, now: datetime) -> None:
    """In the transaction of the change; `until` None is without end."""
    tenant = grant.tenant
    announce(
        event=Event.GRANT_CHANGED,
        subject=tenant,
        facts={
            "scope": str(tenant),
            "slug": tenant.slug,
            "pool": grant.pool_key,
            "since": to_ms(grant.valid_from),
            "until": to_ms(until) if until else None,
        },
        recipients=tenant_leads(tenant, actor),
        once=f"{grant.pool_key}:{to_ms(grant.valid_from)}:{to_ms(now)}",
        now=now,
    )
