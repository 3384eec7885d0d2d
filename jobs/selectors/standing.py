"""Sums for the homes: what waits and why, what failed and on whose side, how much of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, Q, QuerySet

from jobs.models import Job
from jobs.reason_words import NEVER
from jobs.selectors.jobs import GROUPS, jobs_visible_to
from jobs.states import JobState
from tenants import access
from tenants.access import Actor
from tenants.models import Project

WAITING = [state.value for state in GROUPS["waiting"]]


@dataclass(frozen=True, slots=True)
class ReasonCount:
    """How many jobs carry a reason, since when the first of them does, and the facts of that one."""

    reason: str
    count: int
    since: datetime
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reasons:
    """The commonest reasons, how many there are in all, and how many jobs carry one."""

    top: list[ReasonCount]
    kinds: int
    jobs: int


def waiting_by_reason(user: Actor, most: int) -> Reasons:
    """Why visible jobs wait. Two queries."""
    rows = access.visible(user, Job, "job.see").filter(state__in=WAITING)
    return _by_reason(rows, "submitted_at", most)


def failures_by_reason(user: Actor, since: datetime, most: int) -> Reasons:
    """Why visible jobs failed since then. Two queries."""
    rows = access.visible(user, Job, "job.see").filter(state=JobState.FAILED, finished_at__gte=since)
    return _by_reason(rows, "finished_at", most)


def waiting_in_pool(pool_keys: Iterable[str]) -> dict[str, list[tuple[str, int]]]:
    """Per pool the reasons of the jobs that wait for it, the commonest first, by number only: who they belong to is
    not a pool's to say."""
    keys = set(pool_keys)
    rows = Job.objects.filter(state__in=WAITING, facts__pool_key__in=keys).order_by()
    found: dict[str, list[tuple[str, int]]] = {}
    for pool, reason, count in rows.values_list("facts__pool_key", "reason").annotate(n=Count("pk")).order_by("-n"):
        found.setdefault(pool, []).append((reason, count))
    return found


def never_starting(user: Actor) -> int:
    """How many visible queued jobs cannot start by today's rules and inventory."""
    return access.visible(user, Job, "job.see").filter(state=JobState.QUEUED, reason__in=NEVER).count()


def ended_between(user: Actor, start: datetime, end: datetime) -> tuple[int, int]:
    """How many visible jobs failed, and how many succeeded or failed, in [start, end)."""
    rows = access.visible(user, Job, "job.see").filter(finished_at__gte=start, finished_at__lt=end)
    counts = rows.order_by().aggregate(
        failed=Count("pk", filter=Q(state=JobState.FAILED)),
        ended=Count("pk", filter=Q(state__in=[JobState.FAILED, JobState.SUCCEEDED])),
    )
    return counts["failed"], counts["ended"]


def waiting_of(user: Actor, projects: Sequence[Project]) -> QuerySet[Job]:
    """Jobs of these projects that wait, the longest first."""
    return jobs_visible_to(user).filter(state__in=WAITING, project__in=projects).order_by("submitted_at", "id")


def _by_reason(rows: QuerySet[Job], moment: str, most: int) -> Reasons:
    counted = list(rows.order_by().values_list("reason").annotate(n=Count("pk"), first=Min(moment)).order_by("-n"))
    shown = [reason for reason, _count, _first in counted[:most]]
    first = rows.filter(reason__in=shown).order_by("reason", moment, "pk").distinct("reason")
    facts = dict(first.values_list("reason", "facts"))
    top = [ReasonCount(reason, n, since, facts.get(reason, {})) for reason, n, since in counted[:most]]
    return Reasons(top, len(counted), sum(n for _reason, n, _since in counted))
