"""Counting tries in a window of time, in the cache. Without the cache nothing is let through (it fails closed)."""

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from django.core.cache import cache
from django.utils.translation import gettext_lazy as _
from redis.exceptions import RedisError

from portal.lib.clock import to_ms
from portal.lib.errors import TooMany, Unavailable


@dataclass(frozen=True, slots=True)
class Limit:
    """`most` tries for one key in each window of `seconds`; windows begin at multiples of their length."""

    name: str
    most: int
    seconds: int

    def take(self, key: str, now: datetime) -> int:
        """Count one try before it is made, so that parallel ones cannot outrun it; its number in this window.

        Raises Unavailable when the cache does not answer.
        """
        entry = self._entry(key, now)
        try:
            cache.add(entry, 0, self.seconds)
            return int(cache.incr(entry))
        except (RedisError, OSError, ValueError) as error:
            raise Unavailable(
                "LimitsUnavailable",
                _("How often this was tried cannot be checked now, so it is not allowed. Try again in a minute."),
                detail=f"{self.name}: {error}",
            ) from error

    def refusal(self, now: datetime) -> TooMany:
        """What to raise beyond `most`: when the next window begins."""
        wait = self.seconds - to_ms(now) // 1000 % self.seconds
        return TooMany(
            "TooManyTries",
            _("More than {most} tries in {minutes} minutes. Try again in {retry_after} seconds."),
            facts={"most": self.most, "minutes": self.seconds // 60, "retry_after": wait},
        )

    def forget(self, key: str, now: datetime) -> None:
        """Start the window afresh. A cache that does not answer forgets nothing, which only keeps the count."""
        try:
            cache.delete(self._entry(key, now))
        except (RedisError, OSError):
            return

    def _entry(self, key: str, now: datetime) -> str:
        window = to_ms(now) // 1000 // self.seconds
        return f"limit:{self.name}:{window}:{sha256(key.encode()).hexdigest()}"
