"""Give a person a new random password; the one before ends."""

import secrets
from datetime import datetime

from django.db import transaction

from tenants import access
from tenants.models import User
from tenants.naming import checked
from tenants.services.record_audit import record_audit


@transaction.atomic
def renew_password(*, actor: User | None, user: User, now: datetime, note: str = "") -> str:
    """The password in clear for the one time it is shown. Sessions opened with the one before end."""
    if actor is not None:
        access.require_platform(actor, "member.change")
    said = checked(note=note)
    password = secrets.token_urlsafe(15)
    row = User.objects.select_for_update(of=("self",)).get(pk=user.pk)
    row.set_password(password)
    row.save(update_fields=["password"])
    record_audit(actor=actor, verb="user.password_renewed", target=row, note=said["note"], now=now)
    return password
