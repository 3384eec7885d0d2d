"""How it goes: what waits, what just happened, how long starting takes, when the scheduler last decided."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Aggregate, Count, DurationField, F, Min, Q, QuerySet

from jobs.models import Attempt, Cycle, Job, JobEvent
from jobs.selectors.jobs import GROUPS, jobs_visible_to
from tenants import access
from tenants.access import Actor
from tenants.models import Project


def _in(group: str) -> Q:
    return Q(state__in=[state.value for state in GROUPS[group]])


class _Median(Aggregate):
    template = "percentile_disc(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = DurationField()


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many visible jobs wait, and since when the oldest does."""

    count: int
    oldest: datetime | None


def waiting_now(user: Actor) -> Waiting:
    """Jobs that are held or queued."""
    rows = access.visible(user, Job, "job.see").filter(_in("waiting"))
    found = rows.order_by().aggregate(count=Count("pk"), oldest=Min("submitted_at"))
    return Waiting(found["count"], found["oldest"])


def median_wait(user: Actor, start: datetime, end: datetime) -> tuple[timedelta | None, int]:
    """The middle waiting time, from eligible to bound, of first attempts bound in [start, end), and of how many."""
    rows = access.visible(user, Attempt, "job.see").filter(
        number=1, bound_at__gte=start, bound_at__lt=end, job__eligible_at__isnull=False
    )
    wait = F("bound_at") - F("job__eligible_at")
    found = rows.order_by().aggregate(middle=_Median(wait), count=Count("pk"))
    return found["middle"], found["count"]


def own_counts(user: Actor, ended_since: datetime) -> dict[str, int]:
    """How many of the user's own jobs are in each state group: those not ended, and those ended since then."""
    groups: dict[str, Any] = {group: Count("pk", filter=_in(group)) for group in GROUPS}
    rows = access.visible(user, Job, "job.see").filter(submitter=user.pk)
    rows = rows.filter(Q(finished_at__isnull=True) | Q(finished_at__gte=ended_since))
    return rows.order_by().aggregate(**groups)


def counts_by_project(projects: Iterable[Project]) -> dict[UUID, dict[str, int]]:
    """Active and waiting jobs of each project that has any."""
    rows = (
        Job.objects.filter(_in("active") | _in("waiting"), project__in=projects)
        .order_by()
        .values_list("project_id")
        .annotate(active=Count("pk", filter=_in("active")), waiting=Count("pk", filter=_in("waiting")))
    )
    return {project: {"active": active, "waiting": waiting} for project, active, waiting in rows}


def own_unfinished(user: Actor) -> QuerySet[Job]:
    """The user's own jobs that have not ended, newest first."""
    return jobs_visible_to(user).filter(_in("active") | _in("waiting"), submitter=user.pk)


def others_jobs(user: Actor) -> QuerySet[Job]:
    """Visible jobs that other people submitted, newest first."""
    return jobs_visible_to(user).exclude(submitter=user.pk)


def own_events(user: Actor, since: datetime) -> QuerySet[JobEvent]:
    """What last happened to each of the user's own jobs since then, newest first: one event a job."""
    projects = access.visible_projects(user, "job.see").order_by().values("pk")
    rows = JobEvent.objects.filter(job__submitter=user.pk, job__project__in=projects, at__gte=since)
    last = rows.order_by("job_id", "-at", "-recorded_at", "-id").distinct("job_id").values("pk")
    # The bound once more outside: it keeps the outer look-up to the same monthly partitions.
    return JobEvent.objects.filter(pk__in=last, at__gte=since).select_related("job").order_by("-at", "-recorded_at")


def last_cycle() -> Cycle | None:
    """The newest pass of the scheduler that changed something."""
    return Cycle.objects.order_by("-at").first()
