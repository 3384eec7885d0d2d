"""What is kept of a workload after its end: its logs, until it is forgotten."""

import os

from portal.lib.failpoints import failpoint
from resources.drivers.base import DriverUnavailable

from . import clean
from .launcher import records
from .release import member_is_over
from .scan import processes_left
from .store import Store

_LARGEST_READ = 4 << 20


def read_log(store: Store, name: str, *, member: int, offset: int, limit: int) -> tuple[bytes, int]:
    """See `Driver.logs`. A name or member that is not there has an empty log."""
    try:
        with open(store.member(name, member) / records.LOG, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            begin = max(0, size + offset) if offset < 0 else offset
            file.seek(begin)
            data = file.read(max(0, min(limit, _LARGEST_READ)))
    except FileNotFoundError:
        return b"", max(0, offset)
    except OSError as error:
        raise DriverUnavailable(f"{name}: {error}", reason="LogUnread") from error
    return data, begin + len(data)


def forget_workload(store: Store, name: str, *, attempt_id: str) -> None:
    """See `Driver.forget`. Raises DriverUnavailable (`StillRunning`) while something of it may still run."""
    try:
        with store.name_lock(name):
            record = store.record(name)
            if record is None:
                store.remove(name)  # half-forgotten or half-begun
                return
            if record["attempt_id"] != attempt_id:
                return
            over = all(member_is_over(store, name, entry["index"]) for entry in record["members"])
            if not over or processes_left(store, attempt_id, record):
                raise DriverUnavailable(f"{name} is not over", reason="StillRunning")
            store.raise_fence(record["job_id"], record["generation"], attempt_id, closed=True)
            failpoint("local.forget.after_fence")
            clean.remove(str(store.scratch(name)))
            store.remove(name)
    except (OSError, ValueError, KeyError) as error:
        raise DriverUnavailable(f"{name}: {error}", reason="ForgetFailed") from error
