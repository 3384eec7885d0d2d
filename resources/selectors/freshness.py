"""How old facts may be before nothing is decided by them."""

from datetime import datetime, timedelta

STALE_AFTER = timedelta(seconds=60)
"""A cluster not seen for this long is stale: nothing new is placed there and its capacity is no_data."""


def is_stale(last_seen_at: datetime | None, now: datetime) -> bool:
    """True when the facts are too old to place anything by."""
    return last_seen_at is None or now - last_seen_at > STALE_AFTER
