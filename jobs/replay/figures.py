"""What a replay shows, in numbers: how long jobs waited and took, how full the fleet was, what stopping cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from jobs.replay.simulation import Run
from jobs.scheduler.snapshot import WHOLE_DEVICE, Resource

HOUR_MS = 3_600_000
SIZES = ((1, "1"), (2, "2"), (4, "3-4"), (8, "5-8"), (16, "9-16"))
"""Upper bounds of the size groups, in devices, and their names."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Milliseconds over a group of jobs; None where there is none."""

    count: int
    mean: float | None
    median: int | None
    p95: int | None
    p99: int | None

    @classmethod
    def of(cls, values: Iterable[int]) -> Spread:
        """Of these values; percentiles are the nearest rank."""
        rows = sorted(values)
        if not rows:
            return cls(0, None, None, None, None)
        return cls(len(rows), sum(rows) / len(rows), _rank(rows, 50), _rank(rows, 95), _rank(rows, 99))


@dataclass(frozen=True, slots=True)
class Group:
    """How a group of jobs fared: until the first start, and from submission to the end."""

    wait: Spread
    completion: Spread


def devices_of(run: Run) -> int:
    """Whole devices of a job's first way to run, rounded up."""
    lines = [(line, pods.count) for pods in run.job.alternatives[0].pod_sets for line in pods.lines]
    parts = sum(line.amount * count for line, count in lines if line.axis.resource is Resource.DEVICE)
    return -(-parts // WHOLE_DEVICE)


def size_of(run: Run) -> str:
    """The size group of a job."""
    devices = devices_of(run)
    return next((name for most, name in SIZES if devices <= most), "17+") if devices else "0"


def group(runs: Iterable[Run]) -> Group:
    """How these jobs fared; those that never started, or did not end, are left out of what they have not."""
    rows = list(runs)
    return Group(
        Spread.of(run.waited_ms for run in rows if run.waited_ms is not None),
        Spread.of(run.ended_ms - run.job.submit_ms for run in rows if run.ended_ms is not None),
    )


def grouped(runs: Iterable[Run], by: Callable[[Run], str]) -> dict[str, Group]:
    """The same by group, in the order of the names."""
    found: defaultdict[str, list[Run]] = defaultdict(list)
    for run in runs:
        found[by(run)].append(run)
    return {name: group(found[name]) for name in sorted(found)}


def device_hours(runs: Iterable[Run]) -> float:
    """Device-hours held."""
    return sum(devices_of(run) * run.held_ms for run in runs) / HOUR_MS


def lost_hours(runs: Iterable[Run]) -> float:
    """Device-hours of work that was done again because jobs were stopped."""
    return sum(devices_of(run) * run.lost_ms for run in runs) / HOUR_MS


def _rank(rows: Sequence[int], percent: int) -> int:
    return rows[max(0, -(-len(rows) * percent // 100) - 1)]
