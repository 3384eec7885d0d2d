"""Which processes belong to an attempt, read from /proc and not from what we believe we started."""

import contextlib
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass

from .launcher import records
from .launcher.records import Record
from .store import Store

_LOOKS = 5
_MOMENT_S = 0.02


@dataclass(frozen=True, slots=True)
class Found:
    """A living process of an attempt. `index` is its member, None when it does not say."""

    pid: int
    ticks: int
    index: int | None


@dataclass(frozen=True, slots=True)
class _Known:
    """What the records say of one member, to be compared with what lives."""

    index: int
    processes: frozenset[tuple[int, int]]
    """(pid, start ticks) of its launcher and of its first process."""
    namespace: str


def processes_of(store: Store, attempt_id: str, record: Record | None) -> list[Found]:
    """Every living process of the attempt: by the mark in its environment, by its pid namespace, by the records.

    A process may wipe its own mark but cannot leave its namespace; without namespaces the mark is inherited.
    """
    known = [_known(store, record["name"], entry["index"]) for entry in record["members"]] if record else []
    found = []
    for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):
        ticks = records.start_ticks(pid)
        if ticks is not None:
            found += [Found(pid, ticks, index) for index in _belongs(pid, ticks, attempt_id, known)]
    return found


def processes_left(store: Store, attempt_id: str, record: Record | None) -> list[Found]:
    """As `processes_of`, after a moment for what is about to vanish: the kernel takes its time to bury the dead."""
    for _ in range(_LOOKS):
        if not (found := processes_of(store, attempt_id, record)):
            break
        if record is None or not all(_has_ended(store, record, process) for process in found):
            break
        time.sleep(_MOMENT_S)
    return found


def _has_ended(store: Store, record: Record, process: Found) -> bool:
    index = process.index
    return index is not None and store.member_record(record["name"], index, records.EXIT) is not None


def _known(store: Store, name: str, index: int) -> _Known:
    start = store.member_record(name, index, records.START) or {}
    state = store.member_record(name, index, records.STATE) or {}
    if start.get("boot") != records.boot_id():
        return _Known(index, frozenset(), "")
    pairs = ((start.get("pid"), start.get("ticks")), (state.get("first_pid"), state.get("first_ticks")))
    processes = frozenset((pid, ticks) for pid, ticks in pairs if pid and ticks)
    own = state.get("pid_namespace", "")
    # A member that is not isolated shares our namespace; and the number of a namespace that ended is used again.
    alive = records.start_ticks(state.get("first_pid", 0)) == state.get("first_ticks", -1)
    return _Known(index, processes, own if alive and own != _namespace(os.getpid()) else "")


def _belongs(pid: int, ticks: int, attempt_id: str, known: Iterable[_Known]) -> list[int | None]:
    """The member a process belongs to, in a list of one; an empty list when it is none of ours."""
    for member in known:
        if (pid, ticks) in member.processes:
            return [member.index]
    mark = _mark(pid)
    if mark.get(b"PORTAL_ATTEMPT_ID") == attempt_id.encode():
        index = mark.get(b"PORTAL_INDEX", b"")
        return [int(index) if index.isdigit() else None]
    for member in known:
        if member.namespace and _namespace(pid) == member.namespace:
            return [member.index]
    return []


def _mark(pid: int) -> dict[bytes, bytes]:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        pairs = (item.partition(b"=") for item in file.read().split(b"\0"))
        return {name: value for name, _, value in pairs if name.startswith(b"PORTAL_")}
    return {}


def _namespace(pid: int) -> str:
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/ns/pid")
    return ""
