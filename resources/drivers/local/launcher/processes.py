"""Which processes hang below one, how much memory they hold, and how to end them all."""

import contextlib
import os
import signal
import time

_PAGE = os.sysconf("SC_PAGE_SIZE")


def descendants(pid: int) -> list[int]:
    """Children, their children and so on. Zombies may be among them; orphans hang below their reaper."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        inner = _children(waiting.pop())
        found += inner
        waiting += inner
    return found


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in os.listdir(f"/proc/{pid}/task"):
            found += _children_of_task(pid, task)
    return found


def _children_of_task(pid: int, task: str) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except ProcessLookupError:
        return []
    except FileNotFoundError:  # a kernel without CONFIG_PROC_CHILDREN, or the process just ended
        return _children_by_scan(pid) if task == str(pid) else []


def _children_by_scan(pid: int) -> list[int]:
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                if int(file.read().rpartition(")")[2].split()[1]) == pid:
                    found.append(int(name))
    return found


def memory_used(pid: int, limit: int) -> int:
    """Bytes held by everything below `pid`: a fast upper bound while it is under `limit`, else the exact sum.

    The exact sum counts a page shared by several processes once (PSS) and adds files in the member's /dev/shm.
    """
    pids = descendants(pid)
    shared = _shared_memory(pids)
    quick = sum(_resident(inner) for inner in pids) + shared
    if quick <= limit:
        return quick
    parts = [_proportional(inner) for inner in pids]
    mapped_files = sum(part[1] for part in parts)
    return sum(part[0] for part in parts) + max(0, shared - mapped_files)


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * _PAGE
    except OSError:
        return 0


def _proportional(pid: int) -> tuple[int, int]:
    """(all, shared-memory part) of a process's proportional set size; its resident size where that is not shown."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            sizes = {line.split()[0]: int(line.split()[1]) * 1024 for line in file if line.startswith("Pss")}
        return sizes["Pss:"], sizes.get("Pss_Shmem:", 0)
    except (OSError, KeyError):
        return _resident(pid), 0


def _shared_memory(pids: list[int]) -> int:
    """Bytes in the /dev/shm of a member with a root of its own; 0 where it has none."""
    for pid in pids:
        path = f"/proc/{pid}/root/dev/shm"
        with contextlib.suppress(OSError):
            if os.stat(path).st_dev == os.stat("/dev/shm").st_dev:
                return 0
            figures = os.statvfs(path)
            return (figures.f_blocks - figures.f_bfree) * figures.f_frsize
    return 0


def end_all_below() -> None:
    """Kill and bury everything below this process, again until nothing new appears."""
    for _ in range(500):
        kill_all_below()
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


def kill_all_below() -> None:
    """Kill everything below this process."""
    if os.getpid() == 1:  # in a pid namespace of its own, where -1 means everything but pid 1
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        return
    for pid in descendants(os.getpid()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
