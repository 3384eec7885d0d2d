"""What several homes share: tiles, what needs attention, capacity as bars, jobs in rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from jobs.models import Job
from jobs.reason_words import reason_word, side_word
from jobs.selectors.standing import ReasonCount
from jobs.sentences import lines_text, sentence
from portal.lib import units
from portal.lib.display import Tone
from portal.web import bars
from portal.web.nav import address
from resources.selectors.capacity import Capacity
from resources.selectors.catalogue import ClassLooks
from resources.shapes import ClassRow, class_rows


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure that leads to the list behind it. `at` is when it was true, where that is not now."""

    label: str
    value: str
    url: str = ""
    note: str = ""
    tone: Tone | str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Attention:
    """Something a person should look at, with the way there."""

    tone: Tone
    text: str
    url: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ReasonRow:
    """A reason with how many jobs carry it; `text` is the sentence of the one that has it longest."""

    word: str
    side: str
    count: int
    since: datetime
    text: str
    url: str


@dataclass(frozen=True, slots=True)
class ClassBar:
    """Capacity of a class as one bar: held, free, out of service, without data; together what is installed."""

    row: ClassRow
    url: str
    pieces: Sequence[bars.Piece]
    said: str


def listing(route: str, **filters: str) -> str:
    """The address of a list with these filters; "" when the list is not there."""
    path = address(route)
    kept = {name: value for name, value in filters.items() if value}
    return f"{path}?{urlencode(kept)}" if path and kept else path


def reason_rows(found: Iterable[ReasonCount], now: datetime, **filters: str) -> list[ReasonRow]:
    """Reasons in words, each leading to the jobs that carry it."""
    return [
        ReasonRow(
            word=reason_word(item.reason),
            side=side_word(item.reason),
            count=item.count,
            since=item.since,
            text=sentence(item.reason, item.facts, now),
            url=listing("job_list", reason=item.reason, **filters),
        )
        for item in found
    ]


def class_bars(capacities: Sequence[Capacity], looks: ClassLooks, url: Mapping[str, str]) -> list[ClassBar]:
    """One bar per class that has anything installed; `url` leads from a class key to its list."""
    shown = [row for row in class_rows(capacities, looks) if row.amounts.installed]
    return [ClassBar(row, url.get(row.amounts.class_key, ""), _pieces(row.amounts), _said(row)) for row in shown]


def device_links(capacities: Iterable[Capacity]) -> dict[str, str]:
    """Each class with the list of its devices, or of the nodes where it has none of its own."""
    return {
        c.class_key: listing("device_list", **{"class": c.class_key})
        if c.resource == "device"
        else address("node_list")
        for c in capacities
    }


def job_rows(jobs: Sequence[Job], looks: ClassLooks, now: datetime) -> list[tuple[Job, str, str]]:
    """Each job with what it asks for and why it is where it is."""
    return [(job, _asked(job, looks), sentence(job.reason, job.facts, now)) for job in jobs]


def _pieces(amounts: Capacity) -> list[bars.Piece]:
    spans = (
        ("f-k", amounts.usable - amounts.free, ""),
        ("f-k3", amounts.free, ""),
        ("f-track", amounts.out, "p-lines"),
        ("f-none", amounts.no_data, "p-dots"),
    )
    found, start = [], 0
    for css, length, pattern in spans:
        if length > 0:
            place = bars.share(start, amounts.installed), bars.share(length, amounts.installed)
            found.append(bars.Piece(css, *place, pattern))
        start += max(0, length)
    return found


def _said(row: ClassRow) -> str:
    """The bar in words, for who cannot see it."""
    amounts = row.amounts
    parts = [
        _("held {n}").format(n=units.amount(amounts.usable - amounts.free, row.unit)),
        _("free {n}").format(n=units.amount(amounts.free, row.unit)),
    ]
    if amounts.out:
        parts.append(_("out of service {n}").format(n=units.amount(amounts.out, row.unit)))
    if amounts.no_data:
        parts.append(_("no data {n}").format(n=units.amount(amounts.no_data, row.unit)))
    return f"{row.name}: {', '.join(parts)} {row.word}"


def _asked(job: Job, looks: ClassLooks) -> str:
    """The first way to run it, summed over its members."""
    sums: dict[tuple[str, str], int] = {}
    for pod_set in job.alternatives[0]["pod_sets"] if job.alternatives else []:
        for key, resource, amount in pod_set["lines"]:
            sums[key, resource] = sums.get((key, resource), 0) + amount * pod_set["count"]
    return lines_text([(looks[key].name, resource, amount) for (key, resource), amount in sums.items() if amount])
