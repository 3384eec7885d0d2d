"""Sums of the ledger over a window, exact: the database adds numerics, nothing is rounded on the way.

Segments and entries are joined by hand because they are partitioned tables without a foreign key between them.
A segment that reaches over an edge of the window counts with the part inside; its cost is shared by time.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection

from metering.models import Segment
from metering.rating import floor_ms
from metering.selectors.use import Use
from metering.selectors.windows import Window


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose use: of a person, of projects, of jobs; None is no restriction, an empty list selects nothing."""

    user: UUID | None = None
    projects: Sequence[UUID] | None = None
    jobs: Sequence[UUID] | None = None


@dataclass(frozen=True, slots=True)
class UsedJob:
    """A job that used something, as its segments named it, and the end of its last use in the window."""

    job_id: UUID
    name: str
    task_type: str
    project_id: UUID
    project_name: str
    user_name: str
    last: datetime


# The lower bound on start lets the database skip months: no segment spans two UTC months.
_PIECES = """
WITH piece AS (
  SELECT s.*, e.currency, e.cost_micro, e.weight_micro, extract(epoch FROM s."end" - s.start) AS seconds,
    greatest(s.start, %(lo)s) AS lo, least(s."end", %(hi)s) AS hi
  FROM metering_segment s
  LEFT JOIN metering_ledgerentry e ON e.segment_id = s.id AND e.start = s.start
  WHERE s.start >= %(month)s AND s.start < %(hi)s AND s."end" > %(lo)s AND s.lane = 'attributed'
    AND (%(user)s::uuid IS NULL OR s.user_id = %(user)s::uuid)
    AND (%(projects)s::uuid[] IS NULL OR s.project_id = ANY(%(projects)s::uuid[]))
    AND (%(jobs)s::uuid[] IS NULL OR s.job_id = ANY(%(jobs)s::uuid[]))
), rated AS (
  SELECT p.*, p.quantity * extract(epoch FROM p.hi - p.lo) * 1000 AS amount,
    round(p.cost_micro * extract(epoch FROM p.hi - p.lo) / p.seconds, 12) AS cost,
    round(p.weight_micro * extract(epoch FROM p.hi - p.lo) / p.seconds, 12) AS weight
  FROM piece p
)
"""
_SUMS = """
SELECT CASE %(by)s WHEN 'job' THEN job_id WHEN 'project' THEN project_id END AS key, class_key, resource, phase,
  coalesce(currency, '') AS currency, cost IS NULL AS unrated, weight IS NULL AS unweighted,
  sum(amount), sum(cost), sum(weight)
FROM rated GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 3, 2, 4, 5, 6, 7
"""
_DAYS = """
, part AS (
  SELECT r.*, d.day, extract(epoch FROM least(r.hi, d.hi) - greatest(r.lo, d.lo)) AS share
  FROM rated r JOIN unnest(%(starts)s::timestamptz[], %(ends)s::timestamptz[]) WITH ORDINALITY AS d(lo, hi, day)
    ON r.lo < d.hi AND r.hi > d.lo
)
SELECT day, class_key, resource, phase, coalesce(currency, ''), cost_micro IS NULL, weight_micro IS NULL,
  sum(quantity * share * 1000),
  sum(round(cost_micro * share / seconds, 12)), sum(round(weight_micro * share / seconds, 12))
FROM part GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 3, 2, 4, 5, 6, 7
"""
_JOBS = """
SELECT job_id, min(job_name), min(task_type), min(project_id::text)::uuid, min(project_name), min(user_name), max(hi)
FROM rated GROUP BY job_id ORDER BY max(hi) DESC, job_id LIMIT %(limit)s OFFSET %(offset)s
"""
_COUNT = "SELECT count(DISTINCT job_id) FROM rated"


def use_by_class(scope: Scope, window: Window) -> list[Use]:
    """One sum per class over the whole scope."""
    return list(_sums(scope, window, "").get(None, {}).values())


def use_by_project(scope: Scope, window: Window) -> dict[UUID, list[Use]]:
    """Sums per class of each project that used something."""
    return {key: list(uses.values()) for key, uses in _sums(scope, window, "project").items() if key}


def use_by_job(scope: Scope, window: Window) -> dict[UUID, list[Use]]:
    """Sums per class of each job that used something."""
    return {key: list(uses.values()) for key, uses in _sums(scope, window, "job").items() if key}


def use_by_day(
    scope: Scope, window: Window, days: Sequence[tuple[datetime, datetime]]
) -> list[dict[tuple[str, str], Use]]:
    """For each of the days [start, end), sums by (class, resource)."""
    found: dict[Any, dict[tuple[str, str], Use]] = {}
    bounds = {"starts": [start for start, _ in days], "ends": [end for _, end in days]}
    for row in _rows(_DAYS, scope, window, **bounds):
        _fold(found, row)
    return [found.get(place, {}) for place in range(1, len(days) + 1)]


def jobs_that_used(scope: Scope, window: Window, *, limit: int, offset: int) -> list[UsedJob]:
    """Jobs with use in the window, the latest first."""
    return [UsedJob(*row) for row in _rows(_JOBS, scope, window, limit=limit, offset=offset)]


def count_jobs_that_used(scope: Scope, window: Window) -> int:
    """How many jobs used something in the window."""
    return int(next(iter(_rows(_COUNT, scope, window)))[0])


def count_other_lanes(window: Window) -> int:
    """How many segments in the window belong to no project; 0 means that none was recorded."""
    rows = Segment.objects.filter(start__lt=window.end, end__gt=window.start)
    return rows.exclude(lane="attributed").count()


def _sums(scope: Scope, window: Window, by: str) -> dict[UUID | None, dict[tuple[str, str], Use]]:
    found: dict[Any, dict[tuple[str, str], Use]] = {}
    for row in _rows(_SUMS, scope, window, by=by):
        _fold(found, row)
    return found


def _fold(found: dict[Any, dict[tuple[str, str], Use]], row: tuple[Any, ...]) -> None:
    key, class_key, resource, phase, currency, unrated, unweighted, amount, cost, weight = row
    use = found.setdefault(key, {}).setdefault((class_key, resource), Use(class_key, resource))
    use.add(
        phase,
        _whole(amount),
        cost=None if unrated else cost,
        weight=None if unweighted else weight,
        currency=currency,
    )


def _rows(select: str, scope: Scope, window: Window, **more: Any) -> Iterator[tuple[Any, ...]]:
    utc = window.start.astimezone(UTC)
    values = {
        # Quantities are integers over whole milliseconds (rule 8): a window that ends now is cut at one.
        "lo": floor_ms(window.start),
        "hi": floor_ms(window.end),
        "month": utc.replace(day=1, hour=0, minute=0, second=0, microsecond=0),
        "user": scope.user,
        "projects": _list(scope.projects),
        "jobs": _list(scope.jobs),
    }
    with connection.cursor() as cursor:
        cursor.execute("".join((_PIECES, select)), values | more)
        yield from cursor.fetchall()


def _list(keys: Iterable[UUID] | None) -> list[UUID] | None:
    return None if keys is None else list(keys)


def _whole(amount: Decimal) -> int:
    whole = int(amount)
    assert whole == amount, "quantities are whole and times are whole milliseconds"
    return whole
