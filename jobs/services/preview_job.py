"""What the next cycle would say to a request, without saving anything."""

from datetime import datetime

from jobs.models import TemplateVersion
from jobs.request import JobRequest
from jobs.selectors.offers import Offer
from jobs.selectors.verdict import Preview, judge
from jobs.services.build_job import build_job
from tenants.models import Project, User


def preview_job(
    *,
    actor: User,
    project: Project,
    version: TemplateVersion,
    request: JobRequest,
    now: datetime,
    offer: Offer | None = None,
) -> Preview:
    """The verdict with its reason and the price per hour. Raises Denied and Invalid as submitting would."""
    job = build_job(actor=actor, project=project, version=version, request=request, now=now, offer=offer)
    return judge(job, now)
