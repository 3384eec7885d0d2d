"""Let a project, or all projects below a team, use a pool for a period."""

from datetime import datetime

from django.db import transaction

from tenants import access
from tenants.grant_rules import bounds_of, save_grant
from tenants.models import Grant, Project, Team, User
from tenants.naming import checked
from tenants.services.announce_grant import announce_grant
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
    largest_job_parts: int | None = None,
    class_ceiling: str = "",
    note: str = "",
) -> Grant:
    """The new grant. Raises Invalid for a period that does not run forward, bounds below 0, or an overlap with
    another grant of the same tenant and pool. An absent bound is no rule, 0 allows none.
    """
    if actor is not None:
        access.require(actor, "quota.change", tenant)
    said = checked(note=note)
    grant = Grant(
        team=tenant if isinstance(tenant, Team) else None,
        project=tenant if isinstance(tenant, Project) else None,
        pool_key=pool_key,
        valid_from=valid_from,
        valid_to=valid_to,
        most_at_once=most_at_once,
        longest_limit_ms=longest_limit_ms,
        largest_job_parts=largest_job_parts,
        class_ceiling=class_ceiling,
        reason=said["note"][:500],
        created_at=now,
    )
    save_grant(grant)
    announce_grant(grant=grant, until=valid_to, actor=actor, now=now)
    record_audit(
        actor=actor,
        verb="pool.granted",
        target=tenant,
        after={"pool": pool_key, **bounds_of(grant)},
        note=said["note"],
        now=now,
    )
    return grant
