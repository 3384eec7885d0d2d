"""A request checked against its template, as a job that is not yet saved: preview and submit start from here."""

from datetime import datetime

from django.utils.translation import gettext_lazy as _

from jobs.models import Job, TemplateVersion
from jobs.request import JobRequest
from jobs.selectors.offers import Offer, job_of, offer_of
from portal.lib.errors import Invalid
from tenants import access
from tenants.models import Project, User


def build_job(
    *,
    actor: User,
    project: Project,
    version: TemplateVersion,
    request: JobRequest,
    now: datetime,
    offer: Offer | None = None,
) -> Job:
    """The unsaved job, QUEUED at `now`. Raises Denied without `job.ask`, Invalid with every refused field.

    `offer` is what was offered when the form was made, read a moment ago; without it, it is read here.
    """
    access.require(actor, "job.ask", project)
    if project.archived_at is not None:
        message = _("Project {project} is archived and takes no new jobs. Choose another project.")
        raise Invalid("ProjectArchived", message, facts={"project": project.name})
    offer = offer or offer_of(version, project, now)
    return job_of(offer, actor=actor, project=project, version=version, request=request, now=now)
