"""Record a sign-in that was refused."""

from datetime import datetime

from tenants.models import User
from tenants.services.record_audit import record_audit


def refuse_session(*, username: str, reason: str, now: datetime) -> None:
    """Name the account that was tried, never what was typed: people type passwords into the wrong field."""
    tried = User.objects.filter(username=username).first() if "\0" not in username else None
    record_audit(actor=None, verb="session.refused", result="denied", target=tried, reason=reason, now=now)
