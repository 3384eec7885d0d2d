"""Let a project, or all projects below a team, use a pool for a period."""

from datetime import datetime

from django.db import transaction

from tenants import access
from tenants.models import Grant, Project, Team, User
from tenants.services.record_audit import record_audit


@transaction.atomic
def grant_pool(
    *,
    actor: User | None,
    tenant: Team | Project,
    pool_key: str,
    now: datetime,
    valid_from: datetime,
    valid_to: datetime | None = None,
    most_at_once: int | None = None,
    longest_limit_ms: int | None = None,
) -> Grant:
    """The new grant. Overlap with another grant of the same tenant and pool is refused by the database."""
    if actor is not None:
        access.require(actor, "quota.change", tenant)
    grant = Grant.objects.create(
        team=tenant if isinstance(tenant, Team) else None,
        project=tenant if isinstance(tenant, Project) else None,
        pool_key=pool_key,
        valid_from=valid_from,
        valid_to=valid_to,
        most_at_once=most_at_once,
        longest_limit_ms=longest_limit_ms,
        created_at=now,
    )
    record_audit(
        actor=actor,
        verb="pool.granted",
        target=tenant,
        after={"pool": pool_key, "from": valid_from, "to": valid_to},
        now=now,
    )
    return grant
