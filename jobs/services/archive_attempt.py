"""Keep what an attempt of an ended job left: its logs and outputs, with digests and a date until when."""

import logging
from datetime import datetime, timedelta
from pathlib import Path

from django.db import transaction

from jobs import storage
from jobs.models import Artifact, Attempt, Job
from jobs.outputs import listed_outputs, measure
from jobs.reasons import Reason
from jobs.services.record_event import record_event
from portal.lib.failpoints import failpoint
from resources.drivers.base import Driver

log = logging.getLogger(__name__)
KEEP_LOGS = timedelta(days=90)
KEEP_OUTPUTS = timedelta(days=365)
_CHUNK = 1 << 20


def archive_attempt(*, driver: Driver, attempt: Attempt, now: datetime) -> None:
    """Keep logs and outputs of an attempt of a job that is over, then let the cluster forget it.

    Idempotent, and may be killed anywhere: files are written under fixed names, rows are made once, and the attempt
    stays open until its cluster has forgotten it. The job is archived with its newest attempt. What could not be
    kept is named on the job, and stays on the cluster.
    """
    now = max(now, attempt.released_at or now)
    try:
        outputs, refused = _outputs(attempt.job, attempt, now)
        rows = _logs(driver, attempt, now) + outputs
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


def _logs(driver: Driver, attempt: Attempt, now: datetime) -> list[Artifact]:
    """One file per member, copied out of the cluster."""
    folder = storage.folders(attempt.job, attempt).archive
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for member in attempt.placement:
        index = int(member["index"])
        path = folder / f"member-{index}.log"
        _copy_log(driver, attempt, index, path)
        rows.append(_artifact(attempt, f"member-{index}.log", kind="log", path=path, keep=now + KEEP_LOGS, now=now))
    return rows


def _copy_log(driver: Driver, attempt: Attempt, index: int, path: Path) -> None:
    part, offset = path.with_suffix(".part"), 0
    with part.open("wb") as file:
        while True:
            data, offset = driver.logs(attempt.workload_name, member=index, offset=offset, limit=_CHUNK)
            if not data:
                break
            file.write(data)
    if path.exists() and not part.stat().st_size:
        part.unlink()  # kept before, and forgotten by the cluster since
    else:
        part.rename(path)


def _outputs(job: Job, attempt: Attempt, now: datetime) -> tuple[list[Artifact], int]:
    """What the program listed in artifacts.json, digested by us, and how many entries were not kept."""
    where = storage.folders(job, attempt)
    rows, refused = [], 0
    for output in listed_outputs(where.output, where.checkpoints):
        try:
            if output is None:
                raise OSError("not in the job's own folders, without a name, or of no known kind")
            keep = now + KEEP_OUTPUTS
            rows.append(_artifact(attempt, output.name, kind=output.kind, path=output.path, keep=keep, now=now))
        except OSError as error:
            refused += 1
            log.warning("%s: output %s is not kept: %s", attempt.workload_name, output and output.name, error)
    return rows, refused


def _artifact(attempt: Attempt, name: str, *, kind: str, path: Path, keep: datetime, now: datetime) -> Artifact:
    size, digest = measure(path)
    return Artifact(
        project_id=attempt.job.project_id,
        job=attempt.job,
        attempt=attempt,
        name=name[:200],
        kind=kind,
        location=str(path),
        bytes=size,
        sha256=digest,
        keep_until=keep,
        created_at=now,
    )
