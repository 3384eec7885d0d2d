"""Jobs as their readers may see them."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery

from jobs.models import Artifact, Attempt, Job, JobEvent, ReleaseRecord
from jobs.reason_words import NEVER
from jobs.states import JobState
from tenants import access
from tenants.access import Actor
from tenants.models import Team
from tenants.selectors.people import projects_led_by

MOST_OPTIONS = 200
GROUPS: dict[str, tuple[JobState, ...]] = {
    "waiting": (JobState.HELD, JobState.QUEUED),
    "active": (JobState.ADMITTED, JobState.STARTING, JobState.RUNNING, JobState.STOPPING),
    "succeeded": (JobState.SUCCEEDED,),
    "failed": (JobState.FAILED,),
    "cancelled": (JobState.CANCELLED,),
}


def jobs_visible_to(user: Actor) -> QuerySet[Job]:
    """Jobs of the projects whose jobs the user may see, newest first."""
    return access.visible(user, Job, "job.see").select_related("project", "submitter", "template_version__template")


@dataclass(frozen=True, slots=True)
class JobFilter:
    """What to keep; an empty value keeps everything. Times of submission are half-open [since, until).

    `team` keeps everything below it; `pool` and `cluster` where an attempt was, or where the job waits; `uses`
    is the id of an artifact the job started from; `led` keeps the projects of the teams the reader leads; `never`
    what waits and cannot start as things are; `ended_since` what ended at that moment or later.
    """

    group: str = ""
    state: str = ""
    text: str = ""
    mine: bool = False
    task_type: str = ""
    template: str = ""
    project: str = ""
    team: str = ""
    submitter: str = ""
    pool: str = ""
    cluster: str = ""
    reason: str = ""
    uses: str = ""
    since: datetime | None = None
    until: datetime | None = None
    led: bool = False
    never: bool = False
    ended_since: datetime | None = None

    @property
    def is_set(self) -> bool:
        """Whether anything is filtered at all."""
        return self != JobFilter()


def jobs_matching(user: Actor, wanted: JobFilter = JobFilter()) -> QuerySet[Job]:
    """Visible jobs narrowed by the filter, newest first."""
    rows = jobs_visible_to(user)
    if any("\0" in value for value in _texts(wanted)):
        return rows.none()  # no name holds one, and the database refuses to look
    if wanted.mine and user.pk:
        rows = rows.filter(submitter=user.pk)
    if wanted.led:
        rows = rows.filter(project__in=projects_led_by(user).order_by().select_related(None).values("pk"))
    if wanted.never:
        rows = rows.filter(state=JobState.QUEUED, reason__in=NEVER)
    if wanted.group in GROUPS:
        rows = rows.filter(state__in=[s.value for s in GROUPS[wanted.group]])
    return rows.filter(_by_place(wanted), **_by_column(wanted))


def _by_column(wanted: JobFilter) -> dict[str, Any]:
    columns = {
        "state": wanted.state,
        "task_type": wanted.task_type,
        "template_version__template__slug": wanted.template,
        "project__slug": wanted.project,
        "submitter__username": wanted.submitter,
        "reason": wanted.reason,
        "submitted_at__gte": wanted.since,
        "submitted_at__lt": wanted.until,
        "finished_at__gte": wanted.ended_since,
    }
    return {lookup: value for lookup, value in columns.items() if value}


def _by_place(wanted: JobFilter) -> Q:
    found = Q()
    if wanted.text:
        found &= Q(name__icontains=wanted.text) | Q(project__name__icontains=wanted.text)
    if wanted.team:
        teams = Team.objects.filter(slug=wanted.team).values("path")[:1]
        found &= Q(project__team__path__startswith=Subquery(teams))
    if wanted.pool:
        was = Attempt.objects.filter(job=OuterRef("pk"), pool_key=wanted.pool)
        found &= Exists(was) | Q(pool_keys__contains=[wanted.pool]) | Q(facts__pool_key=wanted.pool)
    if wanted.uses:
        found &= Q(inputs__contains=[{"artifact": wanted.uses}])
    if wanted.cluster:
        found &= Q(Exists(Attempt.objects.filter(job=OuterRef("pk"), cluster__key=wanted.cluster)))
    return found


def _texts(wanted: JobFilter) -> list[str]:
    values = (getattr(wanted, name) for name in JobFilter.__slots__)
    return [value for value in values if isinstance(value, str)]


def group_counts(user: Actor, wanted: JobFilter = JobFilter()) -> dict[str, int]:
    """How many jobs are in each state group, the filter's own group and state left aside; one query."""
    states = {group: Count("pk", filter=Q(state__in=[s.value for s in states])) for group, states in GROUPS.items()}
    rows = jobs_matching(user, replace(wanted, group="", state=""))
    return rows.select_related(None).order_by().aggregate(**states)


@dataclass(frozen=True, slots=True)
class Options:
    """What the list can be narrowed to: pairs of a value and its name."""

    projects: list[tuple[str, str]]
    teams: list[tuple[str, str]]
    templates: list[str]
    submitters: list[tuple[str, str]]
    pools: list[str]
    clusters: list[str]
    reasons: list[str]


def options_for(user: Actor) -> Options:
    """The values that visible jobs have, each once; at most MOST_OPTIONS of a kind."""
    rows = access.visible(user, Job, "job.see").order_by()
    projects = access.visible_projects(user, "job.see").order_by("name")
    attempts = access.visible(user, Attempt, "job.see").order_by()

    def once(found: QuerySet[Any], *columns: str) -> list[Any]:
        if len(columns) == 1:
            return list(found.values_list(columns[0], flat=True).distinct().order_by(columns[0])[:MOST_OPTIONS])
        return list(found.values_list(*columns).distinct().order_by(*columns)[:MOST_OPTIONS])

    return Options(
        projects=list(projects.values_list("slug", "name")[:MOST_OPTIONS]),
        teams=list(
            Team.objects.filter(projects__in=projects.order_by()).distinct().values_list("slug", "name")[:MOST_OPTIONS]
        ),
        templates=once(rows, "template_version__template__slug"),
        submitters=[
            (username, name or username)
            for name, username in once(rows, "submitter__display_name", "submitter__username")
        ],
        pools=once(attempts, "pool_key"),
        clusters=once(attempts, "cluster__key"),
        reasons=once(rows, "reason"),
    )


def last_attempt(job: Job) -> Attempt | None:
    """The newest attempt with its allocations and proofs, or None when it never had one."""
    rows = Attempt.objects.filter(job=job).select_related("cluster").prefetch_related("allocations__lines__node")
    return rows.order_by("-number").first()


def releases_of(job: Job) -> QuerySet[ReleaseRecord]:
    """Proofs of release of every attempt, oldest first."""
    rows = ReleaseRecord.objects.filter(allocation__attempt__job=job)
    return rows.select_related("allocation__attempt").order_by("stopped_at")


def events_of(job: Job) -> QuerySet[JobEvent]:
    """The job's history, oldest first."""
    return JobEvent.objects.filter(job=job).order_by("at", "recorded_at", "id")


def artifacts_of(job: Job) -> QuerySet[Artifact]:
    """What the job left, logs last."""
    return Artifact.objects.filter(job=job, deleted_at__isnull=True).order_by("kind", "name")


def input_artifacts(project_id: uuid.UUID, kinds: Sequence[str]) -> QuerySet[Artifact]:
    """Artifacts of a project that a job may start from, newest first."""
    return Artifact.objects.filter(project_id=project_id, kind__in=kinds, deleted_at__isnull=True).select_related("job")


def finished_since(user: Actor, since: datetime) -> QuerySet[Job]:
    """The user's own jobs that ended since then, newest end first."""
    return jobs_visible_to(user).filter(submitter=user.pk, finished_at__gte=since).order_by("-finished_at")
