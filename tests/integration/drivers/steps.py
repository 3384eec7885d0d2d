"""Steps that tests of drivers share: harness, waiting, looking."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol, TypeVar

from resources.drivers.base import Driver, Phase, SeenMember, SeenWorkload, Workload

T = TypeVar("T")
ENDED = (Phase.SUCCEEDED, Phase.FAILED, Phase.UNKNOWN)
PATIENCE_S = 10.0
NOTE_START = 'echo $PORTAL_INDEX >> "$PORTAL_OUTPUT_DIR/starts"; '
"""Begins a script that shall show how often it was started."""


@dataclass(frozen=True, slots=True)
class Script:
    """What a job does: for a shell, and as hints for a driver that only pretends (`simulated.behaviour`)."""

    shell: str
    hints: Mapping[str, Any] = field(default_factory=dict)


class Caller(Protocol):
    """A process that uses a driver."""

    def wait(self, timeout: float) -> int | None:
        """Its exit code, negative for a signal; None when it still runs."""


class Harness(Protocol):
    """What every driver's tests bring along."""

    failpoints: tuple[str, ...]
    """Where a caller of `apply` may be killed; at the last one the workload exists."""
    address: str
    """A pattern that addresses of serving members match."""
    resolution: timedelta
    """How coarse the times are that the cluster tells: nothing for most, a second for Kubernetes."""
    sees_idle: bool
    """Whether release sees processes and temporary files, or only what the cluster's list says."""

    def driver(self) -> Driver:
        """A new instance over the same state, as after a restart of the portal."""

    def workload(self, script: Script | str, **changes: Any) -> Workload:
        """A new workload that runs a script; `members` may be a number."""

    def unstartable(self, program: str) -> Workload:
        """A new workload whose program is not there."""

    def starts(self, workload: Workload) -> list[str]:
        """The index of a member for every time one was started whose script notes that (`NOTE_START`), sorted."""

    def caller(self, workload: Workload, failpoints: str = "") -> Caller:
        """A process of its own that applies the workload; exit code 0 when that worked."""


class ProgramHarness(Harness, Protocol):
    """What the tests of a driver bring along that runs programs."""

    def output(self, workload: Workload) -> Path:
        """What `$PORTAL_OUTPUT_DIR` is outside."""


def wait_for(look: Callable[[], T], what: str = "", patience: float = PATIENCE_S) -> T:
    """The first true answer."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        if answer := look():
            return answer
        time.sleep(0.02)
    raise AssertionError(f"not in {patience} s: {what or look}; last answer {look()!r}")


def seen(driver: Driver, workload: Workload) -> SeenWorkload | None:
    found = [one for one in driver.observe().workloads if one.name == workload.name]
    return found[0] if found else None


def members(driver: Driver, workload: Workload) -> tuple[SeenMember, ...]:
    one = seen(driver, workload)
    assert one is not None, f"{workload.name} is not observed"
    return one.members


def run_to_end(driver: Driver, workload: Workload) -> tuple[SeenMember, ...]:
    driver.apply(workload)
    return ended(driver, workload)


def ended(driver: Driver, workload: Workload) -> tuple[SeenMember, ...]:
    def look() -> tuple[SeenMember, ...]:
        now = members(driver, workload)
        return now if all(member.phase in ENDED for member in now) else ()

    return wait_for(look, f"the end of {workload.name}")


def started(driver: Driver, workload: Workload) -> tuple[SeenMember, ...]:
    def look() -> tuple[SeenMember, ...]:
        now = members(driver, workload)
        return now if all(member.phase is Phase.RUNNING for member in now) else ()

    return wait_for(look, f"{workload.name} running")


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []
