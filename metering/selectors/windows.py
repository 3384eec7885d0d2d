"""The periods a usage page can show: half-open, in the page's time zone, cut into its days. PURE but for wording."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

from django.utils.translation import gettext_lazy as _

from portal.lib.errors import Invalid

KEYS: Final = ("month", "last-month", "7d", "30d")


@dataclass(frozen=True, slots=True)
class Window:
    """[start, end) in UTC; `first` and `last` are its local days, both included."""

    key: str
    start: datetime
    end: datetime
    first: date
    last: date

    def days(self, now: datetime, zone: tzinfo) -> list[tuple[date, datetime, datetime]]:
        """Each local day up to today with its bounds; a day has 23 to 25 hours where clocks change."""
        count = (min(self.last, now.astimezone(zone).date()) - self.first).days + 1
        days = [self.first + timedelta(days=n) for n in range(count)]
        return [(day, midnight(day, zone), midnight(day + timedelta(days=1), zone)) for day in days]


def window_of(key: str, now: datetime, zone: tzinfo) -> Window:
    """The window called `key` as seen at `now`. Raises Invalid for one that does not exist."""
    today = now.astimezone(zone).date()
    month = today.replace(day=1)
    if key == "month":
        return _window(key, month, _next_month(month) - timedelta(days=1), zone)
    if key == "last-month":
        last = month - timedelta(days=1)
        return _window(key, last.replace(day=1), last, zone)
    if key in ("7d", "30d"):
        return _window(key, today - timedelta(days=int(key[:-1]) - 1), today, zone)
    raise Invalid(
        "PeriodUnknown", _("There is no such period. Choose one of {choices}."), facts={"choices": ", ".join(KEYS)}
    )


def midnight(day: date, zone: tzinfo) -> datetime:
    """When the local day begins, in UTC."""
    return datetime.combine(day, time.min, tzinfo=zone).astimezone(UTC)


def _window(key: str, first: date, last: date, zone: tzinfo) -> Window:
    return Window(key, midnight(first, zone), midnight(last + timedelta(days=1), zone), first, last)


def _next_month(first: date) -> date:
    return (first + timedelta(days=32)).replace(day=1)
