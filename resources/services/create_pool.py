"""Make a pool of the nodes a selector picks."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from resources.models import Pool
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit


@transaction.atomic
def create_pool(
    *,
    actor: User | None,
    key: str,
    name: Mapping[str, str],
    selector: Mapping[str, str],
    now: datetime,
    maintainer: str = "",
) -> Pool:
    """The pool, new or already there. Nodes join it with the next inventory pass."""
    if actor is not None:
        access.require_platform(actor, "pool.manage")
    pool, created = Pool.objects.get_or_create(
        key=key,
        defaults={
            "name": dict(name),
            "selector": dict(selector),
            "maintainer": maintainer,
            "created_at": now,
        },
    )
    if created:
        after = {"key": key, "selector": dict(selector)}
        record_audit(actor=actor, verb="pool.created", target=pool, after=after, now=now)
    return pool
