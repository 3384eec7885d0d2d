"""Durable records and process identity, shared by the launcher and the driver.

A record is a small JSON file that is replaced as a whole: a reader sees the old one, the new one, or none.
"""

import _thread
import errno
import json
import os
import signal
import time
from typing import Any

PLAN, LOCK, START, STATE, HEALTH, EXIT, LOG = (
    "plan.json",
    "lock",
    "start.json",
    "state.json",
    "health.json",
    "exit.json",
    "log",
)
"""Files of one member."""
STOP = "stop.json"
"""File of a workload, beside its members: the durable wish to end it."""

Record = dict[str, Any]


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def read(path: str | os.PathLike[str]) -> Record | None:
    """The record at `path`; None when there is none. Raises ValueError when it is not one."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not text:  # what a crash of the machine makes of a record that was not `durable`
        return None
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError(f"{os.fspath(path)} is not a record")
    return value


def write(path: str | os.PathLike[str], record: Record, *, durable: bool = True, spare: bool = False) -> None:
    """Put `record` at `path`: whatever process is killed when, it is there as a whole or not at all.

    A `durable` one also survives a crash of the machine; what only living processes need is written faster.
    With `spare` the blocks set aside by `set_aside` are used, so that it also works on a full disk.
    """
    target = os.fspath(path)
    temporary = f"{target}.spare" if spare else f"{target}.{os.getpid()}.{_thread.get_ident()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        data = memoryview(json.dumps(record, ensure_ascii=False).encode())
        os.ftruncate(descriptor, len(data) if spare else 0)
        while data:  # a full disk shows as a short write first
            data = data[os.write(descriptor, data) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.rename(temporary, target)
    if durable:
        _sync_folder(os.path.dirname(target))


def set_aside(path: str | os.PathLike[str], size: int = 4096) -> None:
    """Reserve disk blocks for a later `write(path, …, spare=True)`; where that is not possible, do nothing."""
    descriptor = os.open(f"{os.fspath(path)}.spare", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
            raise
    finally:
        os.close(descriptor)


def _sync_folder(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def boot_id() -> str:
    """What tells this run of the machine from others: pids and start times mean nothing across a reboot."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def start_ticks(pid: int) -> int | None:
    """When the process started, in clock ticks since boot; None when there is none or it is only a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def same_process(pid: int, ticks: int, boot: str) -> bool:
    """Whether the process once recorded still lives, and is not a stranger that got its number."""
    return boot == boot_id() and start_ticks(pid) == ticks


def send_signal(pid: int, ticks: int, boot: str, number: int) -> bool:
    """Signal the process recorded, never a stranger with its number: the pidfd pins it while it is compared."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    try:
        if not same_process(pid, ticks, boot):
            return False
        signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)
    return True
