"""A witness of what really ran: it reads /proc and believes neither the portal's rows nor its records."""

import os
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

EVERY_SECONDS = 0.1
Member = tuple[str, str]
"""Attempt and index."""
Identity = tuple[int, int]
"""Process number and start time in clock ticks since boot: never reused."""


@dataclass
class Witness:
    """Programs of jobs seen alive, by member; and jobs of which two attempts were seen alive at once.

    A program must live for a few tenths of a second to be seen; on a busy machine one may be missed, so whoever asks
    for `starts` checks that not many were.
    """

    program: str
    seen: defaultdict[Member, set[Identity]] = field(default_factory=lambda: defaultdict(set))
    doubled: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Witness":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        self._thread.join()

    def starts(self, attempt: str) -> dict[str, int]:
        """How many programs each member of an attempt was seen to run, by index."""
        return {index: len(found) for (owner, index), found in self.seen.items() if owner == attempt}

    def _watch(self) -> None:
        while not self._stop.is_set():
            self.look()
            self._stop.wait(EVERY_SECONDS)

    def look(self) -> set[Identity]:
        """The programs alive now."""
        alive: defaultdict[str, set[str]] = defaultdict(set)
        now: set[Identity] = set()
        for pid in (entry for entry in os.listdir("/proc") if entry.isdigit()):
            mark = self._mark(Path("/proc", pid))
            if mark is None:
                continue
            job, attempt, index, identity = mark
            self.seen[attempt, index].add(identity)
            alive[job].add(attempt)
            now.add(identity)
        self.doubled |= {job for job, attempts in alive.items() if len(attempts) > 1}
        return now

    def _mark(self, process: Path) -> tuple[str, str, str, Identity] | None:
        try:
            if not (process / "cmdline").read_bytes().rstrip(b"\0").endswith(self.program.encode()):
                return None
            pairs = (item.partition(b"=") for item in (process / "environ").read_bytes().split(b"\0"))
            mark = {name.decode(): value.decode() for name, _, value in pairs if name.startswith(b"PORTAL_")}
            state, *rest = (process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            return None
        if "PORTAL_ATTEMPT_ID" not in mark or state in "ZX":
            return None
        identity = (int(process.name), int(rest[18]))
        return mark["PORTAL_JOB_ID"], mark["PORTAL_ATTEMPT_ID"], mark["PORTAL_INDEX"], identity
