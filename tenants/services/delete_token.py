"""Delete a personal token: the next request with it is refused."""

from datetime import datetime

from django.db import transaction

from tenants.models import ApiToken, User
from tenants.services.record_audit import record_audit


@transaction.atomic
def delete_token(*, actor: User, token: ApiToken, now: datetime) -> None:
    """Nothing is left of it but the record of both its ends in the audit."""
    before = {"token": str(token.key), "name": token.name}
    token.delete()
    record_audit(actor=actor, verb="token.deleted", target=actor, before=before, now=now)
