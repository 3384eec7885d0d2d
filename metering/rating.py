"""Cut an interval at its boundaries and rate the pieces. Pure, exact integers and fractions, no clock.

A piece is rated by the version in force then; no version is unrated, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, localcontext
from itertools import pairwise

HOUR_MS = 3_600_000
_MS = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Rate:
    """A dated price and weight per unit·hour, in millionths; None is none. `per` is base units in one unit."""

    key: str
    start: datetime
    end: datetime | None
    price_micro: int | None
    weight_micro: int | None
    currency: str
    per: int


@dataclass(frozen=True, slots=True)
class Piece:
    """Half-open [start, end) with the rate in force, or None."""

    start: datetime
    end: datetime
    rate: Rate | None

    @property
    def ms(self) -> int:
        """Whole milliseconds of the piece."""
        return (self.end - self.start) // _MS


def floor_ms(moment: datetime) -> datetime:
    """The moment at whole milliseconds, so that spans add up to the last one."""
    return moment - timedelta(microseconds=moment.microsecond % 1000)


def phases(
    *, bound: datetime | None, started: datetime | None, stopped: datetime | None, released: datetime | None
) -> Iterator[tuple[str, datetime, datetime]]:
    """startup [t4,t5), running [t5,t7), release_lag [t7,t8), without gap or overlap, the empty ones left out.

    Nothing for what was never bound or is not released. A start that was never seen leaves all of it startup.
    """
    if bound is None or released is None:
        return
    stop = stopped or released
    edges = [floor_ms(bound)]
    for moment in (started or stop, stop, released):
        edges.append(max(floor_ms(min(moment, released)), edges[-1]))
    for name, left, right in zip(("startup", "running", "release_lag"), edges, edges[1:], strict=False):
        if right > left:
            yield name, left, right


def cut(start: datetime, end: datetime, rates: Iterable[Rate], boundaries: Iterable[datetime] = ()) -> Iterator[Piece]:
    """Pieces of [start, end), cut at every boundary and rate change inside. Their lengths sum to the whole.

    An empty interval gives none. Rates may not overlap (the database sees to it).
    """
    known = list(rates)
    edges = {start, end}
    edges |= {m for m in boundaries if start < m < end}
    for rate in known:
        edges |= {m for m in (rate.start, rate.end) if m is not None and start < m < end}
    ordered = sorted(edges)
    for left, right in pairwise(ordered):
        yield Piece(left, right, next((r for r in known if _in_force(r, left)), None))


def months_between(start: datetime, end: datetime) -> Iterator[datetime]:
    """Starts of the UTC months inside (start, end): where the ledger's partitions and default periods change."""
    year, month = start.year, start.month
    while True:
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)
        edge = start.replace(year=year, month=month, day=1, hour=0, minute=0, second=0, microsecond=0)
        if edge >= end:
            return
        yield edge


def amount(quantity: int, ms: int, micro: int | None, per: int) -> Decimal | None:
    """quantity × ms at `micro` per `per` units and hour, in millionths, to 12 digits; None when there is no rate."""
    if micro is None:
        return None
    with localcontext() as context:
        context.prec = 60
        return (Decimal(quantity) * ms * micro / (Decimal(per) * HOUR_MS)).quantize(Decimal("1E-12"))


def _in_force(rate: Rate, moment: datetime) -> bool:
    return rate.start <= moment and (rate.end is None or moment < rate.end)
