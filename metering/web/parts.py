"""Pieces that several usage pages share."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from urllib.parse import urlencode

from django.utils import timezone
from django.utils.translation import gettext as _

from metering.selectors.open_use import OpenPiece, sum_of
from metering.selectors.segments import RatedSegment
from metering.selectors.usage import Scope, UsedJob, count_jobs_that_used, jobs_that_used, use_by_day
from metering.selectors.use import Use
from metering.selectors.windows import KEYS, Window
from metering.shapes import kind_of, table_of, unit_of
from portal.lib import units
from portal.lib.display import Link
from resources.selectors.catalogue import ClassLooks

OPEN_JOBS_SHOWN = 20


class UsedJobs:
    """Jobs with use in a window as a list that reads only the page it is asked for."""

    def __init__(self, scope: Scope, window: Window) -> None:
        self.scope, self.window = scope, window

    def count(self) -> int:
        """How many there are."""
        return count_jobs_that_used(self.scope, self.window)

    def __len__(self) -> int:
        return self.count()

    def __getitem__(self, part: slice) -> list[UsedJob]:
        start = part.start or 0
        return jobs_that_used(self.scope, self.window, limit=part.stop - start, offset=start)


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """A segment as it is shown: `hours` and `quantity` without their words, `price` per unit and hour."""

    item: RatedSegment
    name: str
    kind: str
    quantity: str
    ms: int
    hours: str
    hours_word: str
    price: int | None
    cost: Decimal | None
    weight: Decimal | None
    currency: str


def segment_rows(items: Sequence[RatedSegment], looks: ClassLooks) -> list[SegmentRow]:
    """Rows of the ledger; an absent rate stays absent."""
    return [_segment_row(item, looks) for item in items]


def open_context(pieces: Sequence[OpenPiece], looks: ClassLooks) -> dict[str, object]:
    """What is not in the ledger yet: by class, and the jobs it comes from."""
    uses, total = table_of(sum_of(pieces), looks)
    jobs = {piece.job_id: piece.job_name for piece in pieces}
    return {
        "open_uses": uses,
        "open_total": total,
        "open_count": len(jobs),
        "open_jobs": list(jobs.items())[:OPEN_JOBS_SHOWN],
    }


def day_uses(scope: Scope, window: Window, now: datetime) -> list[tuple[date, dict[tuple[str, str], Use]]]:
    """Each local day of the window up to today with its sums."""
    days = window.days(now, timezone.get_current_timezone())
    found = use_by_day(scope, window, [(start, end) for _day, start, end in days])
    return [(day, uses) for (day, _start, _end), uses in zip(days, found, strict=True)]


def period_links(current: str, **query: str) -> list[Link]:
    """The choice of periods."""
    words = {
        "month": _("This month"),
        "last-month": _("Last month"),
        "7d": _("Last 7 days"),
        "30d": _("Last 30 days"),
    }
    return [Link(words[key], f"?{urlencode({'period': key, **query})}", current=key == current) for key in KEYS]


def _segment_row(item: RatedSegment, looks: ClassLooks) -> SegmentRow:
    segment, entry, rate = item.segment, item.entry, item.rate
    unit = unit_of(segment.resource)
    ms = units.milliseconds(segment.end - segment.start)
    return SegmentRow(
        item=item,
        name=looks[segment.class_key].name,
        kind=kind_of(segment.class_key, segment.resource, looks),
        quantity=units.amount_text(segment.quantity, unit),
        ms=ms,
        hours=units.hours(segment.quantity * ms, unit),
        hours_word=units.hours_word(unit),
        price=rate.price_micro if rate else None,
        cost=entry.cost_micro if entry else None,
        weight=entry.weight_micro if entry else None,
        currency=entry.currency if entry else "",
    )
