"""Where a job's inputs come from, and which jobs used what it left."""

import uuid
from collections.abc import Iterable, Mapping

from django.db.models import Q

from jobs.models import Artifact, Job
from jobs.selectors.jobs import jobs_visible_to
from tenants.access import Actor


def inputs_of(job: Job) -> Mapping[str, Artifact]:
    """Artifacts a job started from by their id, each with the job that made it. One query."""
    keys = [item["artifact"] for item in job.inputs if item.get("kind") != "datasource"]
    rows = Artifact.objects.filter(project=job.project_id, pk__in=keys).select_related("job") if keys else []
    return {str(row.pk): row for row in rows}


def used_by(user: Actor, artifacts: Iterable[Artifact]) -> Mapping[uuid.UUID, list[Job]]:
    """Per artifact the jobs that started from it and that the reader may see, newest first. One query."""
    wanted = {str(row.pk): row.pk for row in artifacts}
    if not wanted:
        return {}
    uses = Q()
    for key in wanted:
        uses |= Q(inputs__contains=[{"artifact": key}])
    found: dict[uuid.UUID, list[Job]] = {}
    for job in jobs_visible_to(user).filter(uses):
        for key in {item["artifact"] for item in job.inputs} & wanted.keys():
            found.setdefault(wanted[key], []).append(job)
    return found
