"""Cancel a job: at once when nothing can be on a cluster, else stop it and see it gone."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from jobs.job_access import require_change
from jobs.models import Attempt, Job
from jobs.reasons import Reason
from jobs.services.transition import transition
from jobs.states import JobState
from portal.lib.errors import Conflict
from portal.lib.queue import enqueue
from tenants.models import User
from tenants.services.record_audit import record_audit

_AT_ONCE = frozenset({JobState.HELD, JobState.QUEUED, JobState.ADMITTED})
_VIA_STOP = frozenset({JobState.STARTING, JobState.RUNNING})


def cancel_job(*, actor: User, job: Job, now: datetime) -> Job:
    """The job, cancelled or stopping. Cancelling it again changes nothing.

    A member may cancel their own jobs, others' need `job.change`. Raises Conflict when it has ended meanwhile.
    """
    require_change(actor, job)
    with transaction.atomic():
        for _attempt in range(3):
            job.refresh_from_db()
            if job.state in (JobState.STOPPING, JobState.CANCELLED):
                return job
            if job.is_final:
                raise Conflict(
                    "JobEnded", _("This job has ended; there is nothing to cancel."), facts={"job": job.name}
                )
            if _try(actor, job, now):
                break
        else:
            raise Conflict(
                "JobMoved", _("The job moved meanwhile. Look again and decide anew."), facts={"job": job.name}
            )
        record_audit(actor=actor, verb="job.cancelled", target=job, after={"state": job.state}, now=now)
    return job


def _try(actor: User, job: Job, now: datetime) -> bool:
    state = JobState(job.state)
    attempt = Attempt.objects.filter(job=job, ended=False).first()
    facts = {"who": str(actor)}
    if state in _AT_ONCE:
        return transition(
            job=job, to=JobState.CANCELLED, reason=Reason.CANCELLED_BY_USER, facts=facts, now=now, actor=actor,
            attempt=attempt,
        )  # fmt: skip
    if state not in _VIA_STOP or attempt is None:
        return False
    moved = transition(
        job=job, to=JobState.STOPPING, reason=Reason.CANCELLED_BY_USER, facts=facts, now=now, actor=actor,
        stop_to=JobState.CANCELLED.value,
    )  # fmt: skip
    if moved:
        Attempt.objects.filter(pk=attempt.pk).update(stop_asked_at=now)
        enqueue("jobs.reconcile_cluster", str(attempt.cluster_id))
    return moved
