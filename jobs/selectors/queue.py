"""The queue: who waits, in the order in which the cycle looks at them, and who holds what they wait for."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import (
    Case,
    Count,
    DateTimeField,
    DurationField,
    ExpressionWrapper,
    F,
    IntegerField,
    Min,
    Q,
    QuerySet,
    Sum,
    Value,
    When,
    Window,
)
from django.db.models.fields.json import KT, KeyTextTransform
from django.db.models.functions import Cast, RowNumber

from jobs.models import AllocationLine, Job
from jobs.scheduler.snapshot import PriorityClass
from jobs.selectors.jobs import GROUPS, jobs_visible_to
from jobs.states import HOLDS_CAPACITY
from tenants import access
from tenants.access import Actor

MOST_HOLDERS = 3
_WAITING = [state.value for state in GROUPS["waiting"]]
_HOLDING = [state.value for state in HOLDS_CAPACITY]
_RANK = Case(
    *(When(priority_class=member.value, then=Value(member.rank)) for member in PriorityClass),
    default=Value(len(PriorityClass)),
    output_field=IntegerField(),
)
_LIMIT = ExpressionWrapper(F("limit") * Value(timedelta(milliseconds=1)), output_field=DurationField())
Axis = tuple[str, str]  # pool key, resource


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """What to keep; an empty value keeps everything."""

    pool: str = ""
    project: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PoolQueue:
    """A pool's queue: how many jobs wait there, and how many of them the reader may see. "" is no pool at all."""

    pool: str
    waiting: int
    visible: int


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds what is waited for, base units, until its limit; `job` is None for one the reader may not see."""

    job: Job | None
    amount: int
    ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class Queues:
    """Counts around the rows: by pool of all that wait, by project and reason of what the reader sees."""

    pools: list[PoolQueue]
    projects: list[tuple[str, str, int]] = field(default_factory=list)
    reasons: list[tuple[str, int]] = field(default_factory=list)


def waiting_jobs(user: Actor, wanted: QueueFilter) -> QuerySet[Job]:
    """Visible jobs that wait: by class, then by the place the last pass gave them in their pool's queue.

    Those without a place, not looked at yet or held, come after by priority and age.
    """
    rows = _narrowed(jobs_visible_to(user).filter(state__in=_WAITING), wanted)
    place = Cast(KT("facts__queue_position"), IntegerField())
    return rows.annotate(rank=_RANK, place=place).order_by(
        "rank", F("place").asc(nulls_last=True), "-priority", "submitted_at", "id"
    )


def kept_for_of(user: Actor, jobs: Iterable[Job]) -> Mapping[uuid.UUID, Job | None]:
    """For each job that is stopped by room kept for another: that other one, None where the reader may not see it."""
    keys = {job.pk: str(kept) for job in jobs if (kept := job.facts.get("kept_for"))}
    visible = {str(job.pk): job for job in jobs_visible_to(user).filter(pk__in=keys.values())} if keys else {}
    return {key: visible.get(kept) for key, kept in keys.items()}


def queues(user: Actor, wanted: QueueFilter) -> Queues:
    """How many wait where. Others' jobs are counted, never named. Four queries."""
    mine = access.visible(user, Job, "job.see").filter(state__in=_WAITING).order_by()
    seen = waiting_seen(user)
    everyone = _by_pool(Job.objects.filter(state__in=_WAITING).order_by())
    projects = _narrowed(mine, QueueFilter(wanted.pool, "", wanted.reason))
    reasons = _narrowed(mine, QueueFilter(wanted.pool, wanted.project, ""))
    return Queues(
        pools=[PoolQueue(pool, everyone[pool], count) for pool, count in sorted(seen.items())],
        projects=list(
            projects.values_list("project__slug", "project__name").annotate(n=Count("pk")).order_by("project__name")
        ),
        reasons=list(reasons.values_list("reason").annotate(n=Count("pk")).order_by("-n", "reason")),
    )


def waiting_seen(user: Actor) -> dict[str, int]:
    """How many jobs that the reader may see wait in each pool's queue; "" is no pool at all."""
    return _by_pool(access.visible(user, Job, "job.see").filter(state__in=_WAITING).order_by())


def holders_of(user: Actor, jobs: Iterable[Job]) -> Mapping[uuid.UUID, list[Holder]]:
    """For each waiting job who holds its scarce resource in its pool, the first to end first. Two queries."""
    axes = {job.pk: axis for job in jobs if (axis := axis_of(job.facts)) is not None}
    found = _first_to_end(set(axes.values()))
    keys = {row["job"] for rows in found.values() for row in rows}
    visible = {job.pk: job for job in jobs_visible_to(user).filter(pk__in=keys)} if keys else {}
    shown = {
        axis: [Holder(visible.get(row["job"]), int(row["amount"]), _end(row)) for row in rows]
        for axis, rows in found.items()
    }
    return {key: shown.get(axis, []) for key, axis in axes.items()}


def axis_of(facts: Mapping[str, Any]) -> Axis | None:
    """The pool and resource a job waits for, None where its reason is about something else."""
    pool, resource = facts.get("pool_key"), facts.get("resource")
    return (pool, resource) if isinstance(pool, str) and isinstance(resource, str) else None


def _first_to_end(axes: set[Axis]) -> dict[Axis, list[dict[str, Any]]]:
    if not axes:
        return {}
    place = Window(
        RowNumber(),
        partition_by=[F("allocation__pool_key"), F("resource")],
        order_by=[F("ends").asc(nulls_last=True), F("allocation__attempt__job_id")],
    )
    held = Q()
    for pool, resource in axes:
        held |= Q(allocation__pool_key=pool, resource=resource)
    rows = (
        AllocationLine.objects.filter(held, allocation__state__in=_HOLDING)
        .order_by()
        .values("allocation__pool_key", "resource", "allocation__attempt__job_id")
        .annotate(
            job=F("allocation__attempt__job_id"),
            limit=F("allocation__attempt__job__time_limit_ms"),
            began=Min("allocation__attempt__started_at"),
            ends=ExpressionWrapper(F("began") + _LIMIT, output_field=DateTimeField()),
            amount=Sum("quantity"),
        )
        .annotate(place=place)
        .filter(place__lte=MOST_HOLDERS)
    )
    found: dict[Axis, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault((row["allocation__pool_key"], row["resource"]), []).append(dict(row))
    return found


def _end(row: Mapping[str, Any]) -> datetime | None:
    if row["began"] is None or row["limit"] is None:
        return None
    began: datetime = row["began"]
    return began + timedelta(milliseconds=row["limit"])


def _narrowed(rows: QuerySet[Job], wanted: QueueFilter) -> QuerySet[Job]:
    columns = {"facts__pool_key": wanted.pool, "project__slug": wanted.project, "reason": wanted.reason}
    return rows.filter(**{lookup: value for lookup, value in columns.items() if value})


def _by_pool(rows: QuerySet[Job]) -> dict[str, int]:
    counted = rows.annotate(pool=KeyTextTransform("pool_key", "facts")).values_list("pool").annotate(n=Count("pk"))
    found: dict[str, int] = {}
    for pool, count in counted:
        found[pool or ""] = found.get(pool or "", 0) + count
    return found
