"""Count a try to sign in, before the password is looked at."""

from datetime import datetime

from tenants.services.refuse_session import refuse_session
from tenants.sign_in_limit import LIMIT, key_of


def limit_sign_in(*, username: str, address: str, now: datetime) -> None:
    """Raise TooMany beyond the limit of this name and address, Unavailable when it cannot be counted.

    The first refusal of a window is audited, the rest would only fill the trail.
    """
    tries = LIMIT.take(key_of(username, address), now)
    if tries <= LIMIT.most:
        return
    if tries == LIMIT.most + 1:
        refuse_session(username=username, reason="TooManyTries", now=now)
    raise LIMIT.refusal(now)
