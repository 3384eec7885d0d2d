"""Who would feel a change of a runtime, a class or a pool's rules: jobs that wait."""

import uuid

from jobs.models import Job
from jobs.runtimes import admits
from jobs.selectors.jobs import jobs_visible_to
from jobs.selectors.reach import load_reach
from jobs.states import JobState
from tenants.access import Actor

_WAITING = (JobState.HELD, JobState.QUEUED, JobState.ADMITTED)


def jobs_waiting_in(runtime_key: str) -> int:
    """How many jobs that have not started were given this runtime, whoever may see them."""
    return Job.objects.filter(state__in=_WAITING, runtime_key=runtime_key).count()


def jobs_kept_from(pool_key: str, task_types: list[str], runtimes: list[str]) -> int:
    """How many jobs that wait could run in the pool today and could not by these rules."""
    reach = load_reach()
    waiting = Job.objects.filter(state__in=_WAITING).only("project_id", "pool_keys", "task_type", "runtime_key")
    return sum(
        pool_key in reach.pools_for(job) and not admits(task_types, runtimes, job.task_type, job.runtime_key)
        for job in waiting
        if reach.hold_for(job) is None
    )


def job_seen_by(user: Actor, key: uuid.UUID) -> bool:
    """Whether there is such a job and the user may see it."""
    return jobs_visible_to(user).filter(pk=key).exists()


def jobs_seen_by(user: Actor, keys: set[uuid.UUID]) -> set[uuid.UUID]:
    """Those of the jobs that the user may see. One query."""
    return set(jobs_visible_to(user).filter(pk__in=keys).order_by().values_list("pk", flat=True)) if keys else set()
