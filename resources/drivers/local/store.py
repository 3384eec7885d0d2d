"""The control folder: what the driver knows of its workloads, on disk, safe against crashes and second callers.

```
<root>/locks/…                     one of 64 lock files per name and per job, never removed
<root>/fences/<nn>.json            job → the newest generation seen, and whether its records were forgotten
<root>/jobs/<name>/record.json     the intent; a workload exists once this is there
<root>/jobs/<name>/stop.json       the wish to end it
<root>/jobs/<name>/members/<i>/    plan, lock, start, state, health and exit records, log
<root>/scratch/<name>/<i>/         the only part a job can see: its working folder and its /tmp
```
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from .launcher import records
from .launcher.records import Record

_STRIPES = 64
_RECORD = "record.json"
_CLEANED = "cleaned.json"
_KEYS = {"name", "job_id", "attempt_id", "generation", "created_at", "members"}


class Store:
    """Paths, locks and records below one root. Holds no state of its own: any number may share a root."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("locks", "fences", "jobs", "scratch"):
            (root / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        root.chmod(0o700)

    # --- locks

    @contextlib.contextmanager
    def name_lock(self, name: str) -> Iterator[None]:
        """Only one caller at a time acts on a workload; in processes and threads alike."""
        with _flock(self.root / "locks" / f"name-{_stripe(name)}"):
            yield

    @contextlib.contextmanager
    def place_lock(self) -> Iterator[None]:
        """Only one caller at a time chooses CPUs and ports; taken inside a name lock."""
        with _flock(self.root / "locks" / "place"):
            yield

    @contextlib.contextmanager
    def member_lock(self, name: str, index: int) -> Iterator[bool]:
        """The lock a member's launcher holds for life; yields False at once when it is taken."""
        path = self.member(name, index) / records.LOCK
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield True
        except BlockingIOError:
            yield False
        finally:
            os.close(descriptor)

    # --- fences

    def raise_fence(self, job_id: str, generation: int, attempt_id: str, *, closed: bool = False) -> bool:
        """Let an attempt pass, and none before it any more; a closed one passes never again.

        False when a newer attempt was seen, another of the same generation, or this one was closed.
        """
        with _flock(self.root / "locks" / f"job-{_stripe(job_id)}"):
            fences = records.read(self._fences(job_id)) or {}
            known = fences.get(job_id) or {"generation": -1, "attempt_id": "", "closed": False}
            if known["generation"] > generation:
                return False
            if known["generation"] == generation and (known["attempt_id"] != attempt_id or known["closed"]):
                return False
            wanted = {"generation": generation, "attempt_id": attempt_id, "closed": closed}
            if known != wanted:
                fences[job_id] = wanted
                records.write(self._fences(job_id), fences)
            return True

    def _fences(self, job_id: str) -> Path:
        return self.root / "fences" / f"{_stripe(job_id)}.json"

    # --- workloads

    def job(self, name: str) -> Path:
        """Control folder of a workload."""
        return self.root / "jobs" / name

    def member(self, name: str, index: int) -> Path:
        """Control folder of a member."""
        return self.job(name) / "members" / str(index)

    def scratch(self, name: str) -> Path:
        """What the members of a workload may fill with temporary files."""
        return self.root / "scratch" / name

    def names(self) -> list[str]:
        """Workloads that exist or were begun."""
        return sorted(path.name for path in (self.root / "jobs").iterdir())

    def record(self, name: str) -> Record | None:
        """The intent; None when the workload does not exist. Raises ValueError when it cannot be understood."""
        record = records.read(self.job(name) / _RECORD)
        if record is not None and not (record.keys() >= _KEYS and isinstance(record["members"], list)):
            raise ValueError(f"the record of {name} is incomplete")
        return record

    def write_record(self, name: str, record: Record) -> None:
        """Make the workload exist."""
        records.write(self.job(name) / _RECORD, record)

    def stop(self, name: str) -> Record | None:
        """{requested_at, grace_ms} of the wish to end it."""
        return records.read(self.job(name) / records.STOP)

    def write_stop(self, name: str, stop: Record) -> None:
        """Ask every launcher of the workload to end its member."""
        records.write(self.job(name) / records.STOP, stop)

    def cleaned(self, name: str) -> Record | None:
        """{files, bytes, done} of the removal of temporary files."""
        return records.read(self.job(name) / _CLEANED)

    def write_cleaned(self, name: str, cleaned: Record) -> None:
        """Remember what was or will be removed."""
        records.write(self.job(name) / _CLEANED, cleaned)

    def member_record(self, name: str, index: int, kind: str) -> Record | None:
        """One of a member's records, by file name."""
        return records.read(self.member(name, index) / kind)

    def remove(self, name: str) -> None:
        """Forget a workload: its record first, so that it stops existing at one moment."""
        (self.job(name) / _RECORD).unlink(missing_ok=True)
        shutil.rmtree(self.job(name), ignore_errors=True)


def _stripe(key: str) -> str:
    return f"{int.from_bytes(hashlib.blake2b(key.encode(), digest_size=4).digest()) % _STRIPES:02d}"


@contextlib.contextmanager
def _flock(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
