"""Jobs as their readers may see them."""

import uuid
from collections.abc import Sequence
from datetime import datetime

from django.db.models import Count, Q, QuerySet

from jobs.models import Artifact, Attempt, Job, JobEvent, ReleaseRecord
from jobs.states import FINAL, JobState
from tenants import access
from tenants.access import Actor

_FINAL = [state.value for state in FINAL]
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


def jobs_matching(
    user: Actor, *, group: str = "", text: str = "", mine: bool = False, task_type: str = "", project: str = ""
) -> QuerySet[Job]:
    """Visible jobs narrowed by state group, free text in the name, the user's own, task type, and project slug."""
    rows = jobs_visible_to(user)
    if "\0" in text + project:
        return rows.none()  # no name holds one, and the database refuses to look
    if group in GROUPS:
        rows = rows.filter(state__in=[s.value for s in GROUPS[group]])
    if text:
        rows = rows.filter(Q(name__icontains=text) | Q(project__name__icontains=text))
    if mine and user.pk:
        rows = rows.filter(submitter=user.pk)
    if task_type:
        rows = rows.filter(task_type=task_type)
    if project:
        rows = rows.filter(project__slug=project)
    return rows


def group_counts(user: Actor) -> dict[str, int]:
    """How many visible jobs are in each state group; one query."""
    states = {group: Count("pk", filter=Q(state__in=[s.value for s in states])) for group, states in GROUPS.items()}
    return access.visible(user, Job, "job.see").order_by().aggregate(**states)


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
