"""Close the books on jobs that ended before they reached a cluster: there is nothing to keep but their record."""

from datetime import datetime

from django.db.models import Exists, OuterRef

from jobs.models import Attempt, Job
from jobs.states import FINAL


def archive_unstarted(*, now: datetime) -> int:
    """How many were archived. Idempotent."""
    attempts = Attempt.objects.filter(job=OuterRef("pk"))
    claimed = attempts.exclude(started_at__isnull=True, bound_at__isnull=True)
    unreleased = attempts.filter(released_at__isnull=True)
    jobs = Job.objects.filter(archived_at__isnull=True, state__in=[s.value for s in FINAL])
    nothing_kept = jobs.filter(~Exists(claimed), ~Exists(unreleased))
    return nothing_kept.update(archived_at=now, archive_note="NothingToKeep")
