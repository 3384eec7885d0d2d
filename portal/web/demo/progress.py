"""How far the demo fleet has got, for whoever opens a page meanwhile."""

from dataclasses import asdict, dataclass

from django.conf import settings
from django.core.cache import cache
from redis.exceptions import RedisError

_KEY = "demo.progress"
_SECONDS = 60
"""A seeding that has said nothing for this long has ended, one way or another."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Jobs of the simulated past that are done, of how many."""

    done: int
    total: int


def tell_progress(progress: Progress | None) -> None:
    """Let every process know; None: it is over. A cache that is away changes nothing."""
    try:
        cache.delete(_KEY) if progress is None else cache.set(_KEY, asdict(progress), _SECONDS)
    except RedisError:
        return


def progress_now() -> Progress | None:
    """What is under way, or None."""
    if settings.MODE == "production":
        return None
    try:
        found = cache.get(_KEY)
    except RedisError:
        return None
    return Progress(**found) if found else None
