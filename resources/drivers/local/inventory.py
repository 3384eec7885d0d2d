"""This machine as a node: what the operating system and the makers' tools tell now."""

import os
import platform
import re
import shutil
from pathlib import Path

import psutil

from resources.drivers.base import Inventory, NumaNode, SeenNode

from .devices import device_groups, read_devices
from .site import Site

_NODES = Path("/sys/devices/system/node")
_MILLI = 1000


def read_inventory(site: Site) -> Inventory:
    """The one node. Not complete when a tool is installed but did not answer: its devices are unknown, not gone."""
    readings = read_devices(site.options.vendors)
    failures = "; ".join(reading.failure for reading in readings if reading.failure)
    cpus = usable_cpus()
    memory = psutil.virtual_memory().total
    usable_memory = min(memory, _cgroup_limit("memory.max") or memory)
    node = SeenNode(
        name=site.node_name,
        ready=True,
        schedulable=not site.listens_beyond_loopback,
        reason="NotLoopback" if site.listens_beyond_loopback else failures,
        cpu_milli=(os.cpu_count() or len(cpus)) * _MILLI,
        cpu_allocatable_milli=_less(_usable_cpu_milli(len(cpus)), site.options.reserve_cpu_milli),
        memory_bytes=memory,
        memory_allocatable_bytes=_less(usable_memory, site.options.reserve_memory_bytes),
        storage_bytes=shutil.disk_usage(site.root).total,
        architecture=platform.machine(),
        os=platform.system().lower(),
        labels={"kernel": platform.release(), "cpu-model": _cpu_model()},
        groups=device_groups(readings),
        numa=read_numa(),
    )
    return Inventory(nodes=(node,), at=site.clock(), complete=not failures)


def usable_cpus() -> tuple[int, ...]:
    """CPU ids this process, and so every job, may run on."""
    return tuple(sorted(os.sched_getaffinity(0)))


def read_numa(nodes: Path = _NODES) -> tuple[NumaNode, ...]:
    """NUMA nodes as the kernel lists them; empty where it lists none."""
    found = []
    for folder in nodes.glob("node[0-9]*"):
        cpus = parse_cpu_list((folder / "cpulist").read_text())
        found.append(NumaNode(int(folder.name[4:]), cpus, _numa_memory(folder / "meminfo")))
    return tuple(sorted(found, key=lambda node: node.index))


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """`0-2,8` → (0, 1, 2, 8), the kernel's list format."""
    cpus: list[int] = []
    for part in text.strip().split(","):
        if part:
            first, _, last = part.partition("-")
            cpus += range(int(first), int(last or first) + 1)
    return tuple(cpus)


def _numa_memory(meminfo: Path) -> int | None:
    match = re.search(r"MemTotal:\s+(\d+) kB", meminfo.read_text()) if meminfo.exists() else None
    return int(match[1]) * 1024 if match else None


def _usable_cpu_milli(cpus: int) -> int:
    quota = _cgroup_line("cpu.max").split()
    if len(quota) == 2 and quota[0].isdigit():
        return min(cpus * _MILLI, int(quota[0]) * _MILLI // int(quota[1]))
    return cpus * _MILLI


def _cgroup_limit(name: str) -> int | None:
    text = _cgroup_line(name)
    return int(text) if text.isdigit() else None


def _cgroup_line(name: str) -> str:
    """A limit of the control group (v2) we live in; "" where there is none."""
    try:
        path = Path("/proc/self/cgroup").read_text().partition("0::/")[2].split("\n")[0]
        return Path("/sys/fs/cgroup", path, name).read_text().strip()
    except OSError:
        return ""


def _less(total: int, reserve: int) -> int:
    return total - min(reserve, total // 4)


def _cpu_model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return ""
    match = re.search(r"^(?:model name|Model|cpu model)\s*:\s*(.+)$", text, re.MULTILINE)
    return match[1].strip() if match else ""
