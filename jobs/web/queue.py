"""The queue page: all that waits and that the reader may see, in the order of the cycle."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET

from jobs.models import Job
from jobs.reason_words import reason_word
from jobs.selectors.job_card import dials_of, estimate_text
from jobs.selectors.pulse import last_cycle
from jobs.selectors.queue import (
    Holder,
    QueueFilter,
    Queues,
    axis_of,
    holders_of,
    kept_for_of,
    queues,
    waiting_jobs,
)
from jobs.sentences import UNIT_OF_RESOURCE, sentence
from portal.lib import units
from portal.lib.clock import from_ms, utc_now
from portal.lib.csv_file import csv_response
from portal.lib.display import Fact, Link
from portal.lib.pages import page_of, word
from portal.lib.signin import signed_in
from resources.selectors.names import name_of

PER_PAGE = 50
_CSV = (
    "pool", "position", "total", "job_id", "job", "project", "submitter", "state", "reason", "resource", "need", "have",
    "short_by", "estimate_earliest", "estimate_latest", "submitted_at",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """A job that waits. `ahead` says how many are before it, whether or not the reader may see them."""

    job: Job
    pool: str
    position: int | None
    total: int | None
    ahead: str
    sentence: str
    estimate: str
    dials: list[Fact] = field(default_factory=list)
    holders: list[tuple[Holder, str]] = field(default_factory=list)
    kept_for: Job | None = None


@require_GET
@signed_in
def queue_page(request: HttpRequest) -> HttpResponseBase:
    """Jobs that wait, first in the queue first; `?pool=`, `?project=`, `?reason=` narrow it, `?format=csv` exports."""
    wanted = QueueFilter(word(request, "pool", 63), word(request, "project", 63), word(request, "reason", 60))
    jobs = waiting_jobs(request.user, wanted)
    if request.GET.get("format") == "csv":
        return csv_response("queue", _CSV, map(_csv_row, jobs.iterator(chunk_size=500)))
    page = page_of(request, jobs, size=PER_PAGE)
    found, given = queues(request.user, wanted), _given(wanted)
    context = {
        "page": page,
        "rows": _rows(request, list(page)),
        "pools": found.pools,
        "links": list(_links(found, given)),
        "csv": f"?{urlencode(given | {'format': 'csv'})}",
        "filtered": wanted != QueueFilter(),
        "cycle": last_cycle(),
        "now": utc_now(),
    }
    return render(request, "jobs/queue.html", context)


def _rows(request: HttpRequest, jobs: list[Job]) -> list[Row]:
    now, holders, kept = utc_now(), holders_of(request.user, jobs), kept_for_of(request.user, jobs)
    return [
        Row(
            job=job,
            pool=job.facts.get("pool_key", ""),
            position=job.facts.get("queue_position"),
            total=job.facts.get("queue_total"),
            ahead=_ahead(job.facts.get("queue_position")),
            sentence=sentence(job.reason, job.facts, now),
            estimate=estimate_text(job.facts, now),
            dials=dials_of(job.facts),
            holders=[(holder, _held(holder, job)) for holder in holders.get(job.pk, [])],
            kept_for=kept.get(job.pk),
        )
        for job in jobs
    ]


def _ahead(position: int | None) -> str:
    if position is None:
        return _("not in a pool's queue")
    if position == 1:
        return _("first of its pool")
    said = ngettext("{n} job ahead in this pool", "{n} jobs ahead in this pool", position - 1)
    return said.format(n=units.number(position - 1))


def _held(holder: Holder, job: Job) -> str:
    axis = axis_of(job.facts)
    return units.amount_text(holder.amount, UNIT_OF_RESOURCE.get(axis[1] if axis else "", "count"))


def _given(wanted: QueueFilter) -> dict[str, str]:
    return {name: value for name in QueueFilter.__slots__ if (value := getattr(wanted, name))}


def _links(found: Queues, given: dict[str, str]) -> Iterator[Link]:
    """A chip for every pool, project and reason there is, with how many the other filters leave."""
    choices: list[tuple[str, str, str, int]] = [
        *(("pool", queue.pool, name_of("pool", queue.pool), queue.visible) for queue in found.pools if queue.pool),
        *(("project", slug, name, count) for slug, name, count in found.projects),
        *(("reason", reason, reason_word(reason), count) for reason, count in found.reasons),
    ]
    for name, value, label, count in choices:
        current = given.get(name) == value
        query = given | {name: "" if current else value}
        yield Link(label, "?" + urlencode({k: v for k, v in query.items() if v}), count=count, current=current)


def _csv_row(job: Job) -> list[Any]:
    facts, estimate = job.facts, job.facts.get("estimate") or {}
    return [
        facts.get("pool_key"), facts.get("queue_position"), facts.get("queue_total"), job.pk, job.name,
        job.project.name, str(job.submitter), job.state, job.reason, facts.get("resource"), facts.get("need"),
        facts.get("have"), facts.get("short_by"), _moment(estimate.get("earliest_ms")),
        _moment(estimate.get("latest_ms")), job.submitted_at,
    ]  # fmt: skip


def _moment(ms: int | None) -> Any:
    return None if ms is None else from_ms(ms)
