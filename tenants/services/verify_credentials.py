"""Check a user name and password sent to the API, under the limit and with the records of the sign-in page."""

from datetime import datetime

from django.contrib.auth import authenticate

from tenants.models import User
from tenants.services.limit_sign_in import limit_sign_in
from tenants.services.open_session import open_session
from tenants.services.refuse_session import refuse_session


def verify_credentials(*, username: str, password: str, address: str, now: datetime) -> User | None:
    """Whose they are, None when they are nobody's. Raises TooMany beyond the limit, Unavailable without it."""
    limit_sign_in(username=username, address=address, now=now)
    user = authenticate(username=username, password=password)
    if not isinstance(user, User):
        refuse_session(username=username, reason="WrongCredentials", now=now)
        return None
    open_session(user=user, address=address, now=now)
    return user
