"""Record a sign-in that succeeded."""

from datetime import datetime

from tenants.models import User
from tenants.services.record_audit import record_audit
from tenants.sign_in_limit import LIMIT, key_of


def open_session(*, user: User, address: str, now: datetime) -> None:
    """The record, and the tries so far forgotten: only failures count towards the limit."""
    record_audit(actor=user, verb="session.signed_in", target=user, now=now)
    LIMIT.forget(key_of(user.username, address), now)
