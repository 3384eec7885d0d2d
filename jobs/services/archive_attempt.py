"""Keep what an attempt of an ended job left: its logs and outputs, with digests and a date until when."""

import logging
from datetime import datetime

from django.db import transaction

from jobs.keeping import kept_logs, kept_outputs
from jobs.models import Artifact, Attempt, Job
from jobs.reasons import Reason
from jobs.services.record_event import record_event
from portal.lib.failpoints import failpoint
from resources.drivers.base import Driver

log = logging.getLogger(__name__)


def archive_attempt(*, driver: Driver, attempt: Attempt, now: datetime) -> None:
    """Keep logs and outputs of an attempt of a job that is over, then let the cluster forget it.

    Idempotent, and may be killed anywhere: files are written under fixed names, rows are made once, and the attempt
    stays open until its cluster has forgotten it. The job is archived with its newest attempt. What could not be
    kept is named on the job, and stays on the cluster.
    """
    now = max(now, attempt.released_at or now)
    try:
        outputs, refused = kept_outputs(attempt.job, attempt, now)
        rows = kept_logs(driver, attempt, now) + outputs
        note = ""
    except OSError as error:
        rows, refused, note = [], 0, f"ArchiveFailed: {error.strerror or error}"[:300]
        log.warning("archive of %s: %s", attempt.workload_name, error)
    failpoint("jobs.archive.before_rows")
    with transaction.atomic():
        Artifact.objects.bulk_create(rows, ignore_conflicts=True)
        _archive_job(attempt, now, kept=len(rows), refused=refused, note=note)
    failpoint("jobs.archive.after_rows")
    if not note:
        driver.forget(attempt.workload_name, attempt_id=str(attempt.pk))
    failpoint("jobs.archive.after_forget")
    Attempt.objects.filter(pk=attempt.pk).update(closed=True)


def _archive_job(attempt: Attempt, now: datetime, *, kept: int, refused: int, note: str) -> None:
    job = attempt.job
    if Attempt.objects.filter(job=job, number__gt=attempt.number).exists():
        return
    if Job.objects.filter(pk=job.pk, archived_at__isnull=True).update(archived_at=now, archive_note=note):
        facts = {"files": kept, "note": note, "refused": refused}
        record_event(job=job, at=now, now=now, kind="archive", reason=Reason.ARCHIVED, facts=facts, attempt=attempt)
