"""Keep what an attempt of an ended job left: its logs and outputs, with digests and a date until when."""

import json
import logging
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.db import transaction

from jobs import storage
from jobs.models import Artifact, Attempt, Job
from jobs.reasons import Reason
from jobs.services.record_event import record_event
from portal.lib.failpoints import failpoint
from resources.drivers.base import Driver

log = logging.getLogger(__name__)
KEEP_LOGS = timedelta(days=90)
KEEP_OUTPUTS = timedelta(days=365)
_CHUNK = 1 << 20
_KINDS = ("dataset", "checkpoint", "model", "result")
_MANIFEST_LIMIT = 1 << 20


def archive_attempt(*, driver: Driver, attempt: Attempt, now: datetime) -> None:
    """Keep logs and outputs of an attempt of a job that is over, then let the cluster forget it.

    Idempotent, and may be killed anywhere: files are written under fixed names, rows are made once, and the attempt
    stays open until its cluster has forgotten it. The job is archived with its newest attempt. What could not be
    kept is named on the job, and stays on the cluster.
    """
    now = max(now, attempt.released_at or now)
    try:
        rows = _logs(driver, attempt, now) + _outputs(attempt.job, attempt, now)
        note = ""
    except OSError as error:
        rows, note = [], f"ArchiveFailed: {error.strerror or error}"[:300]
        log.warning("archive of %s: %s", attempt.workload_name, error)
    failpoint("jobs.archive.before_rows")
    with transaction.atomic():
        Artifact.objects.bulk_create(rows, ignore_conflicts=True)
        _archive_job(attempt, now, kept=len(rows), note=note)
    failpoint("jobs.archive.after_rows")
    if not note:
        driver.forget(attempt.workload_name, attempt_id=str(attempt.pk))
    failpoint("jobs.archive.after_forget")
    Attempt.objects.filter(pk=attempt.pk).update(closed=True)


def _archive_job(attempt: Attempt, now: datetime, *, kept: int, note: str) -> None:
    job = attempt.job
    if Attempt.objects.filter(job=job, number__gt=attempt.number).exists():
        return
    if Job.objects.filter(pk=job.pk, archived_at__isnull=True).update(archived_at=now, archive_note=note):
        facts = {"files": kept, "note": note}
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


def _outputs(job: Job, attempt: Attempt, now: datetime) -> list[Artifact]:
    """What the program listed in artifacts.json, digested by us; nothing outside its own folders is believed."""
    where = storage.folders(job, attempt)
    rows = []
    for item in _manifest(where.output):
        root = where.checkpoints if item.get("root") == "checkpoints" else where.output
        path = storage.within(root, str(item.get("path", "")))
        if path is None or item.get("kind") not in _KINDS:
            log.warning("%s lists an output that is not kept: %s", attempt.workload_name, item)
            continue
        name = str(item.get("name") or path.name)
        rows.append(_artifact(attempt, name, kind=item["kind"], path=path, keep=now + KEEP_OUTPUTS, now=now))
    return rows


def _manifest(output: Path) -> list[dict[str, Any]]:
    path = storage.within(output, "artifacts.json")
    if path is None or path.stat().st_size > _MANIFEST_LIMIT:
        return []
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return []
    items = raw.get("artifacts", []) if isinstance(raw, dict) else raw
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _measure(path: Path) -> tuple[int, str]:
    """Bytes and SHA-256 of a file; of a folder, of its sorted list of relative paths and file digests."""
    if path.is_file():
        digest, size = sha256(), 0
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                size += len(chunk)
        return size, digest.hexdigest()
    total, listing = 0, sha256()
    for child in sorted(p for p in path.rglob("*") if p.is_file() and not p.is_symlink()):
        size, hexdigest = _measure(child)
        total += size
        listing.update(f"{child.relative_to(path).as_posix()}\0{hexdigest}\n".encode())
    return total, listing.hexdigest()


def _artifact(attempt: Attempt, name: str, *, kind: str, path: Path, keep: datetime, now: datetime) -> Artifact:
    size, digest = _measure(path)
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
