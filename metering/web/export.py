"""Usage as CSV: exact figures for machines, so heads and words are constants and never translated."""

from collections.abc import Iterable, Iterator, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import StreamingHttpResponse

from metering.models import Segment
from metering.rating import HOUR_MS
from metering.selectors.segments import RatedSegment, with_rates
from metering.selectors.usage import Scope, jobs_that_used, use_by_job, use_by_project
from metering.selectors.use import PHASES, Use
from metering.selectors.windows import Window
from portal.lib import units
from portal.lib.csv_file import csv_response
from resources.selectors.rates import UNIT_OF
from tenants.models import Project

CHUNK = 500
_UNIT_WORDS = {"device": "card-hours", "cpu": "core-hours", "memory": "GiB-hours", "storage": "GiB-hours"}
_PERIOD = ("period_start", "period_end")
_USE = (
    "class", "unit", *PHASES, "allocated", "allocated_base_unit_ms",
    "normalized_hours", "unweighted", "currency", "cost", "unrated",
)  # fmt: skip
_SEGMENT = (
    "segment_id", "start", "end", "phase", "class", "resource", "quantity_base_units", "node", "cluster", "pool",
    "attempt_id", "unit", "hours", "rate_id", "price_per_unit_hour", "currency", "cost", "normalized_hours",
)  # fmt: skip


def query(**values: str) -> str:
    """An address's query of the values that are set."""
    return urlencode({name: value for name, value in values.items() if value})


def jobs_csv(name: str, scope: Scope, window: Window) -> StreamingHttpResponse:
    """One row per job, class and currency."""
    head = (*_PERIOD, "project_id", "project", "job_id", "job", "task_type", "submitter", *_USE)
    return csv_response(f"{name}-{window.first}-{window.last}", head, _job_rows(scope, window))


def projects_csv(name: str, projects: Sequence[Project], window: Window) -> StreamingHttpResponse:
    """One row per project, class and currency."""
    head = (*_PERIOD, "team", "project_id", "project", "environment", *_USE)
    return csv_response(f"{name}-{window.first}-{window.last}", head, _project_rows(projects, window))


def segments_csv(name: str, segments: QuerySet[Segment]) -> StreamingHttpResponse:
    """Every segment of a job."""
    return csv_response(name, _SEGMENT, _segment_rows(segments))


def _job_rows(scope: Scope, window: Window) -> Iterator[list[Any]]:
    offset = 0
    while jobs := jobs_that_used(scope, window, limit=CHUNK, offset=offset):
        found = use_by_job(Scope(scope.user, scope.projects, [job.job_id for job in jobs]), window)
        for job in jobs:
            front = [job.project_id, job.project_name, job.job_id, job.name, job.task_type, job.user_name]
            yield from ([window.start, window.end, *front, *row] for row in _use_rows(found.get(job.job_id, [])))
        offset += CHUNK


def _project_rows(projects: Sequence[Project], window: Window) -> Iterator[list[Any]]:
    found = use_by_project(Scope(projects=[project.pk for project in projects]), window)
    for project in projects:
        front = [project.team.name, project.pk, project.name, project.environment]
        yield from ([window.start, window.end, *front, *row] for row in _use_rows(found.get(project.pk, [])))


def _use_rows(uses: Iterable[Use]) -> Iterator[list[Any]]:
    """A class once; of several currencies only the first row carries the hours, so that columns can be summed."""
    for use in uses:
        hours = [_hours(use.phases[phase], use.resource) for phase in PHASES]
        whole = [*hours, _hours(use.allocated, use.resource), use.allocated]
        weights = [_plain(use.weight / 1_000_000), _hours(use.unweighted, use.resource)]
        front = [use.class_key, _UNIT_WORDS.get(use.resource, use.resource)]
        costs: list[tuple[str, Decimal | None]] = [*sorted(use.cost.items())] or [("", None)]
        unrated = _hours(use.unrated, use.resource)
        for place, (currency, cost) in enumerate(costs):
            money = [currency, None if cost is None else _plain(cost / 1_000_000)]
            yield [*front, *whole, *weights, *money, unrated] if not place else [*front, *[None] * 7, *money, None]


def _segment_rows(segments: QuerySet[Segment]) -> Iterator[list[Any]]:
    chunk: list[Segment] = []
    for segment in segments.iterator(chunk_size=CHUNK):
        chunk.append(segment)
        if len(chunk) == CHUNK:
            yield from map(_segment_row, with_rates(chunk))
            chunk = []
    yield from map(_segment_row, with_rates(chunk))


def _segment_row(item: RatedSegment) -> list[Any]:
    s, entry, rate = item.segment, item.entry, item.rate
    amount = s.quantity * units.milliseconds(s.end - s.start)
    price = None if rate is None or rate.price_micro is None else _plain(Decimal(rate.price_micro) / 1_000_000)
    cost = None if entry is None or entry.cost_micro is None else _plain(entry.cost_micro / 1_000_000)
    weight = None if entry is None or entry.weight_micro is None else _plain(entry.weight_micro / 1_000_000)
    return [
        s.pk, s.start, s.end, s.phase, s.class_key, s.resource, s.quantity, s.node_name, s.cluster_key, s.pool_key,
        s.attempt_id, _UNIT_WORDS.get(s.resource, s.resource), _hours(amount, s.resource),
        entry.rate_id if entry else None, price, entry.currency if entry else None, cost, weight,
    ]  # fmt: skip


def _hours(amount: int, resource: str) -> str:
    """Unit-hours to nine decimals, half even; the exact integer stands beside it."""
    value = Decimal(amount) / (UNIT_OF.get(resource, 1) * HOUR_MS)
    return _plain(value.quantize(Decimal("1E-9"), ROUND_HALF_EVEN))


def _plain(value: Decimal) -> str:
    """Digits without exponent and trailing zeros."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
