"""What an attempt left behind, copied and digested, as rows that are not yet saved."""

import logging
from datetime import datetime, timedelta
from pathlib import Path

from jobs import storage
from jobs.models import Artifact, Attempt, Job
from jobs.outputs import listed_outputs, measure
from resources.drivers.base import Driver

log = logging.getLogger(__name__)
KEEP_LOGS = timedelta(days=90)
KEEP_OUTPUTS = timedelta(days=365)
_CHUNK = 1 << 20


def kept_logs(driver: Driver, attempt: Attempt, now: datetime) -> list[Artifact]:
    """One file per member, copied out of the cluster. Raises OSError, DriverUnavailable."""
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


def kept_outputs(job: Job, attempt: Attempt, now: datetime) -> tuple[list[Artifact], int]:
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
