"""Delete a personal token: the next request with it is refused."""

from datetime import datetime

from django.db import transaction

from tenants.models import ApiToken, User
from tenants.naming import checked
from tenants.services.record_audit import record_audit


@transaction.atomic
def delete_token(*, actor: User, token: ApiToken, now: datetime, note: str = "") -> None:
    """Nothing is left of it but the record of both its ends in the audit."""
    said = checked(note=note)
    before = {"token": str(token.key), "name": token.name}
    token.delete()
    record_audit(actor=actor, verb="token.deleted", target=actor, before=before, note=said["note"], now=now)
