"""What a local driver is told about its machine and its portal; fixed for its life."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from .vendors import VENDORS, Vendor


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """What rarely differs from its default."""

    python: Path = Path(sys.executable)
    """Runs shipped programs; its environment is what jobs find."""
    isolate: bool = True
    """False: never make namespaces, and run shipped programs only."""
    hidden: tuple[Path, ...] = ()
    """Folders no job may see, besides the driver's own and those data is written to."""
    log_head_bytes: int = 16 << 20
    log_tail_bytes: int = 1 << 20
    ports: range = range(20_000, 30_000)
    """Loopback ports for services: below the range the kernel hands out by itself."""
    reserve_cpu_milli: int = 500
    reserve_memory_bytes: int = 1 << 30
    """Kept for the portal, at most a quarter of the machine."""
    processes: int = 2_048
    """Processes and threads one member may have."""
    cgroup: Path | None = None
    """A cgroup v2 folder delegated to the portal's user, with cpu, memory and pids enabled for its children."""
    claim_time_out_s: float = 5.0
    """How long `apply` waits for a launcher to claim its member before it calls the outcome unknown."""
    vendors: tuple[Vendor, ...] = VENDORS


@dataclass(frozen=True, slots=True)
class Site:
    """One machine as its driver sees it."""

    root: Path
    node_name: str
    programs: Mapping[str, Path]
    allowed_read: tuple[Path, ...]
    """Folders below which a job may be shown something to read."""
    allowed_write: tuple[Path, ...]
    """Folders below which a job may be given something to write."""
    listens_beyond_loopback: bool
    clock: Callable[[], datetime]
    options: LocalOptions
