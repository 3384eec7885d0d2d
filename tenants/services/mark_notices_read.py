"""A person has read notices of theirs."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from tenants.models import Notice, User


def mark_notices_read(
    *, actor: User, now: datetime, keys: Collection[UUID] | None = None, until: datetime | None = None
) -> int:
    """How many were unread until now. Idempotent; others' notices are none of theirs and are left alone.

    Without `keys` all of them, with `until` only what happened up to then: what arrived since was not seen.
    """
    rows = Notice.objects.filter(recipient=actor, read_at__isnull=True)
    if keys is not None:
        rows = rows.filter(pk__in=keys)
    if until is not None:
        rows = rows.filter(at__lte=until)
    return rows.update(read_at=now)
