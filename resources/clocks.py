"""What the page of a cluster says about its clock. Pure."""

from dataclasses import dataclass
from datetime import timedelta

from django.utils.translation import gettext as _

WARN_AFTER = timedelta(seconds=5)
"""A gap of the clocks that somebody should see to. Times are put right whatever it is."""


@dataclass(frozen=True, slots=True)
class ClockWords:
    """The gap in words, and whether it is one to see to."""

    text: str
    warns: bool


def clock_words(ahead_ms: int | None) -> ClockWords | None:
    """None while it was not measured."""
    if ahead_ms is None:
        return None
    seconds = round(abs(ahead_ms) / 1_000)
    if not seconds:
        return ClockWords(_("agrees with the portal's"), warns=False)
    words = _("{seconds} s ahead of the portal") if ahead_ms > 0 else _("{seconds} s behind the portal")
    return ClockWords(words.format(seconds=seconds), warns=timedelta(milliseconds=abs(ahead_ms)) >= WARN_AFTER)
