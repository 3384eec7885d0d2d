"""Let a person sign in, or no more."""

from datetime import datetime

from django.db import transaction

from tenants import access
from tenants.models import User
from tenants.naming import checked
from tenants.services.keep_administrator import keep_administrator
from tenants.services.record_audit import record_audit


@transaction.atomic
def set_user_active(*, actor: User | None, user: User, active: bool, now: datetime, note: str = "") -> User:
    """The person; roles and tokens stay, but count for nothing while it is off, from the next request on.

    Idempotent. Raises Conflict for the last platform administrator.
    """
    if actor is not None:
        access.require_platform(actor, "member.change")
    said = checked(note=note)
    row = User.objects.select_for_update(of=("self",)).get(pk=user.pk)
    if row.is_active == active:
        return row
    if not active:
        keep_administrator(leaving=row)
    row.is_active = active
    row.save(update_fields=["is_active"])
    record_audit(
        actor=actor,
        verb="user.activated" if active else "user.deactivated",
        target=row,
        before={"is_active": not active},
        after={"is_active": active},
        note=said["note"],
        now=now,
    )
    return row
