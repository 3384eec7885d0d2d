"""Who may change or end a job: its submitter while they may ask in the project, and who may change others' jobs."""

from jobs.models import Job
from portal.lib.errors import Denied
from tenants import access
from tenants.access import Actor


def may_change(user: Actor, job: Job) -> bool:
    """Whether `require_change` would pass."""
    return _is_own(user, job) or access.can(user, "job.change", job)


def require_change(user: Actor, job: Job) -> None:
    """Raise Denied, naming the job, unless the user may change it."""
    if _is_own(user, job):
        return
    try:
        access.require(user, "job.change", job)
    except Denied as error:
        error.facts["job"] = str(job.pk)
        raise


def _is_own(user: Actor, job: Job) -> bool:
    return job.submitter_id == user.pk and access.can(user, "job.ask", job)
