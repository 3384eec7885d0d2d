"""A control group (version 2) of its own for a member, where the operator has delegated a folder to the portal."""

import contextlib
import os

_PERIOD_US = 100_000


def create(path: str, *, cpu_milli: int, memory_bytes: int, processes: int) -> None:
    """Make the group and set its limits. Raises OSError where the folder or a controller is not delegated."""
    os.makedirs(path, exist_ok=True)
    _set(path, "cpu.max", f"{cpu_milli * _PERIOD_US // 1000} {_PERIOD_US}")
    _set(path, "memory.max", str(memory_bytes))
    _set(path, "memory.oom.group", "1")
    _set(path, "pids.max", str(processes))
    with contextlib.suppress(FileNotFoundError):
        _set(path, "memory.swap.max", "0")


def ran_out_of_memory(path: str) -> bool:
    """Whether the kernel killed something in the group for want of memory."""
    with contextlib.suppress(OSError), open(f"{path}/memory.events", encoding="ascii") as file:
        counts = dict(line.split() for line in file)
        return int(counts.get("oom_kill", 0)) > 0
    return False


def peak_memory(path: str) -> int | None:
    """The most the group ever held, in bytes; None where the kernel does not say."""
    with contextlib.suppress(OSError), open(f"{path}/memory.peak", encoding="ascii") as file:
        return int(file.read())
    return None


def remove(path: str) -> None:
    """Kill what is left in the group and remove it."""
    with contextlib.suppress(OSError):
        _set(path, "cgroup.kill", "1")
    with contextlib.suppress(OSError):
        os.rmdir(path)


def _set(path: str, name: str, value: str) -> None:
    with open(f"{path}/{name}", "r+b", buffering=0) as file:
        file.write(value.encode())
