"""Keep what an attempt of an ended job left: its logs and outputs, with digests and a date until when."""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from jobs.keeping import FOR_GOOD, LEFT_BEHIND, NO_LOG, NOT_KEPT, kept_logs, kept_outputs
from jobs.models import Artifact, Attempt, Job
from jobs.reasons import Reason
from jobs.services.record_event import record_event
from portal.lib.failpoints import failpoint
from resources.drivers.base import NAMESPACE_ENDING, Driver, DriverUnavailable

log = logging.getLogger(__name__)


def archive_attempt(*, driver: Driver, attempt: Attempt, now: datetime) -> None:
    """Keep logs and outputs of an attempt of a job that is over, then let the cluster forget it.

    Idempotent, and may be killed anywhere: files are written under fixed names, rows are made once, and the attempt
    stays open until its cluster has forgotten it. The job is archived with its newest attempt. What could not be
    kept is named on the job, and stays on the cluster; a log that cannot be had is asked for as long as the
    installation waits, then given up. Raises DriverUnavailable when the cluster does not answer.
    """
    now = max(now, attempt.released_at or now)
    try:
        outputs, refused = kept_outputs(attempt.job, attempt, now)
        logs, unread = kept_logs(driver, attempt, now)
    except OSError as error:
        outputs, logs, unread, refused = [], [], [], 0
        note = f"{NOT_KEPT}: {error.strerror or error}"[:300]
        log.warning("archive of %s: %s", attempt.workload_name, error)
    else:
        note = NO_LOG if unread else ""
        if not _is_settled(attempt, unread, now):
            return
    failpoint("jobs.archive.before_rows")
    with transaction.atomic():
        rows = logs + outputs
        Artifact.objects.bulk_create(rows, ignore_conflicts=True)
        _archive_job(attempt, now, kept=len(rows), refused=refused, note=note)
    failpoint("jobs.archive.after_rows")
    if not note.startswith(NOT_KEPT):
        _forget(driver, attempt)
    failpoint("jobs.archive.after_forget")
    Attempt.objects.filter(pk=attempt.pk).update(closed=True)


def _is_settled(attempt: Attempt, unread: list[dict[str, Any]], now: datetime) -> bool:
    """Whether every log was had or is given up. What is missing is written down, with since when."""
    known = attempt.log_trouble
    if known.get("given_up") or not (unread or known):
        return True
    since = datetime.fromisoformat(known.get("since") or now.isoformat())
    waited = now - since >= timedelta(minutes=settings.LOG_DEADLINE_MINUTES)
    over = waited or all(one["cause"] in FOR_GOOD for one in unread)
    trouble: dict[str, Any] = {}
    if unread:
        trouble = {"since": since.isoformat(), "tried": now.isoformat(), "logs": unread}
        trouble |= {"given_up": now.isoformat()} if over else {}
    attempt.log_trouble = trouble
    attempt.save(update_fields=["log_trouble"])
    return not unread or over


def _forget(driver: Driver, attempt: Attempt) -> None:
    """Let the cluster forget it. In a namespace that somebody deletes nobody may take anything away any more."""
    try:
        driver.forget(attempt.workload_name, attempt_id=str(attempt.pk))
    except DriverUnavailable as error:
        if error.reason != NAMESPACE_ENDING:
            raise
        log.warning("%s stays on its cluster: %s", attempt.workload_name, error.detail)
        Job.objects.filter(pk=attempt.job_id).update(archive_note=f"{LEFT_BEHIND}: {error.detail}"[:300])


def _archive_job(attempt: Attempt, now: datetime, *, kept: int, refused: int, note: str) -> None:
    job = attempt.job
    if Attempt.objects.filter(job=job, number__gt=attempt.number).exists():
        return
    if Job.objects.filter(pk=job.pk, archived_at__isnull=True).update(archived_at=now, archive_note=note):
        facts = {"files": kept, "note": note, "refused": refused}
        record_event(job=job, at=now, now=now, kind="archive", reason=Reason.ARCHIVED, facts=facts, attempt=attempt)
