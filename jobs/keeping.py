"""What an attempt left behind, copied and digested, as rows that are not yet saved."""

import logging
import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from jobs import storage
from jobs.models import Artifact, Attempt, Job
from jobs.outputs import listed_outputs, measure
from resources.drivers.base import NAMESPACE_ENDING, Driver, DriverUnavailable

log = logging.getLogger(__name__)
KEEP_LOGS = timedelta(days=90)
KEEP_OUTPUTS = timedelta(days=365)
LOG_PAUSE = timedelta(seconds=30)
LOG_S = 5.0
"""How long one log is copied at a time; the next pass goes on."""
MOST_KEPT = 256 << 20
"""Bytes of one log that are kept, about; a line of ours says that there was more."""
TOO_LONG = f"[armillary] the rest of this log was not kept: it is longer than {MOST_KEPT >> 20} MiB\n".encode()
UNFINISHED = "LogUnfinished"
OF_THE_MOMENT = frozenset({UNFINISHED, "CircuitOpen", "RateLimited", "TooManyRequests"})
"""Reasons that say nothing about a log."""
FOR_GOOD = frozenset({NAMESPACE_ENDING})
"""Reasons for which a log need not be waited for."""
NOT_KEPT, NO_LOG, LEFT_BEHIND = "ArchiveFailed", "LogNotAvailable", "LeftBehind"
"""How notes of a job begin whose evidence is not whole."""
_CHUNK = 8 << 20


def is_resting(attempt: Attempt, now: datetime) -> bool:
    """Whether its logs could not be read a moment ago: a node that is gone is not asked on every pass."""
    tried = attempt.log_trouble.get("tried")
    return tried is not None and timedelta() <= now - datetime.fromisoformat(tried) < LOG_PAUSE


def stays_there(note: str) -> bool:
    """Whether a job with this note left something on its cluster on purpose, or because nobody may take it away."""
    return note.startswith((NOT_KEPT, LEFT_BEHIND))


def kept_logs(driver: Driver, attempt: Attempt, now: datetime) -> tuple[list[Artifact], list[dict[str, Any]]]:
    """One file per member, copied out of the cluster; and of which members the log could not be had, and why.

    What was copied by an earlier call is not read again. Raises OSError, and DriverUnavailable when it is the cluster
    or the time that is wanting and not the log.
    """
    folder = storage.folders(attempt.job, attempt).archive
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[Artifact] = []
    unread: list[dict[str, Any]] = []
    for member in attempt.placement:
        index = int(member["index"])
        path = folder / f"member-{index}.log"
        try:
            if not path.exists():
                _copy_log(driver, attempt, index, path)
        except DriverUnavailable as error:
            if error.reason in OF_THE_MOMENT:
                raise
            log.warning("log of %s, member %d: %s", attempt.workload_name, index, error.detail)
            unread.append({"member": index, "node": _node_of(attempt, member), "cause": error.reason})
            continue
        rows.append(_artifact(attempt, f"member-{index}.log", kind="log", path=path, keep=now + KEEP_LOGS, now=now))
    return rows, unread


def _copy_log(driver: Driver, attempt: Attempt, index: int, path: Path) -> None:
    """Goes on where an earlier call ran out of time. Raises DriverUnavailable (`LogUnfinished`) when this one does."""
    part, until = path.with_suffix(".part"), time.monotonic() + LOG_S
    with part.open("ab") as file:
        offset = file.tell()
        while True:
            data, offset = driver.logs(attempt.workload_name, member=index, offset=offset, limit=_CHUNK)
            if not data:
                break
            file.write(data)
            if offset >= MOST_KEPT:
                file.write(TOO_LONG)
                break
            if time.monotonic() > until:
                raise DriverUnavailable(f"{offset} bytes so far", reason=UNFINISHED)
    part.rename(path)


def _node_of(attempt: Attempt, member: Mapping[str, Any]) -> str:
    """Where it ran, as far as that was seen: a cluster binds its pods itself."""
    seen: Mapping[str, Any] = next((one for one in attempt.members_seen if one.get("index") == member["index"]), {})
    return str(seen.get("node") or member["node"])


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
