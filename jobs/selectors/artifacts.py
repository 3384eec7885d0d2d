"""What jobs left, over all projects a reader sees."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from jobs.models import Artifact
from jobs.outputs import KINDS
from tenants import access
from tenants.access import Actor

LOG = "log"


@dataclass(frozen=True, slots=True)
class ArtifactFilter:
    """What to keep; an empty value keeps everything, but logs only where they are asked for."""

    kind: str = ""
    project: str = ""
    text: str = ""

    @property
    def is_set(self) -> bool:
        """Whether anything is filtered at all."""
        return self != ArtifactFilter()


def artifacts_matching(user: Actor, wanted: ArtifactFilter) -> QuerySet[Artifact]:
    """Artifacts of jobs the reader sees, newest first."""
    rows = _narrowed(access.visible(user, Artifact, "job.see"), wanted, kind=True)
    return rows.select_related("job", "project").order_by("-created_at", "id")


def kind_counts(user: Actor, wanted: ArtifactFilter) -> dict[str, int]:
    """How many there are of each kind that the other filters leave; one query."""
    counts: dict[str, Any] = {kind: Count("pk", filter=Q(kind=kind)) for kind in (*KINDS, LOG)}
    return _narrowed(access.visible(user, Artifact, "job.see"), wanted, kind=False).order_by().aggregate(**counts)


def projects_with_artifacts(user: Actor) -> Iterator[tuple[UUID, str, str]]:
    """Key, slug and name of the projects that have any, by name."""
    keys = access.visible(user, Artifact, "job.see").order_by().values("project")
    projects = access.visible_projects(user, "job.see").filter(pk__in=keys)
    yield from projects.order_by("name").values_list("pk", "slug", "name")


def _narrowed(rows: QuerySet[Artifact], wanted: ArtifactFilter, *, kind: bool) -> QuerySet[Artifact]:
    rows = rows.filter(deleted_at__isnull=True)
    if kind:
        rows = rows.filter(kind=wanted.kind) if wanted.kind else rows.exclude(kind=LOG)
    if wanted.project:
        rows = rows.filter(project__slug=wanted.project)
    if wanted.text:
        rows = rows.filter(Q(name__icontains=wanted.text) | Q(job__name__icontains=wanted.text))
    return rows
