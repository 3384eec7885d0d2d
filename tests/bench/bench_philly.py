"""The Philly job list replayed on 72 hosts of eight GPUs: does room kept for large jobs cost the others anything?

Arrivals of days 14 to 91. Declared limits are run times times U(1, 10), as people declare them, three seeds; beside it
exact limits, and nothing kept at all, which is what best-effort FIFO does. The whole queue is looked at in every pass,
through the same `cycle` as the product, with reasons. Passes are 60 s apart. `--data FOLDER` has philly/; `--quick`
is one seed.
"""

import argparse
import csv
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from statistics import mean

from jobs.replay.figures import devices_of, group
from jobs.replay.simulation import PastJob, Run, Simulation
from jobs.scheduler.rules import Rules
from jobs.scheduler.snapshot import (
    WHOLE_DEVICE,
    Alternative,
    Axis,
    Cluster,
    Device,
    Grant,
    Host,
    Line,
    PodSet,
    Pool,
    Resource,
    ResourceClass,
    Snapshot,
    Tenant,
)
from portal.embedded.paths import CHECKOUT
from tests.bench.report import NotRun, at_most, report

HOSTS, GPUS, FIRST_DAY, LAST_DAY = 72, 8, 14, 91
SECOND, HOUR, DAY = 1_000, 3_600_000, 86_400_000
GPU = Axis("gpu", Resource.DEVICE)
RULES = Rules(forecast_steps=0, aging_cap=0)
DEFAULT_DATA = CHECKOUT.parent / "shared" / "traces"


def main() -> int:
    """Measure and print; the exit code."""
    parser = argparse.ArgumentParser(prog="bench philly")
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args(sys.argv[3:])
    listed = list(read_jobs(given.data / "philly" / "philly_jobs.csv"))
    print(f"policy: {RULES}; {len(listed)} jobs on {HOSTS} x {GPUS} GPUs, passes 60 s apart")
    seeds = (1,) if given.quick else (1, 2, 3)
    kept = [_replay(f"limits x U(1, 10), seed {seed}", with_limits(listed, seed), RULES) for seed in seeds]
    exact = _replay("exact limits", listed, RULES)
    _replay("nothing kept (best effort)", listed, replace(RULES, reserve=False))
    return report(
        [
            at_most("philly: mean completion", mean(_completion_h(runs) for runs in kept), "h", 10.7),
            at_most(
                "philly: p99 wait of jobs of 16 GPUs and more", mean(_large_p99_h(runs) for runs in kept), "h", 160
            ),
            at_most("philly, exact limits: mean completion", _completion_h(exact), "h", 17.7),
            at_most("philly, exact limits: p99 wait of jobs >= 16 GPUs", _large_p99_h(exact), "h", 96),
        ]
    )


def read_jobs(path: Path) -> Iterator[PastJob]:
    """The jobs that arrive in the days looked at, each with its exact run time as limit. Raises NotRun without them."""
    if not path.is_file():
        raise NotRun(f"{path} is not there; --data FOLDER names the folder with philly/")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    moments = [int(datetime.fromisoformat(row["timestamp"]).timestamp()) * SECOND for row in rows]
    first = min(moments)
    for number, (row, moment) in enumerate(zip(rows, moments, strict=True)):
        lasts = max(SECOND, round(float(row["duration"]) * SECOND))
        if FIRST_DAY * DAY <= moment - first < LAST_DAY * DAY:
            way = Alternative("gpu", (pods_of(int(row["num_gpus"])),))
            yield PastJob(f"{number:06}", "lab", moment, lasts, ("pool",), (way,), limit_ms=lasts)


def pods_of(gpus: int) -> PodSet:
    """Up to eight on one host; more as equal replicas of at most eight."""
    replicas = -(-gpus // GPUS)
    return PodSet("workers", replicas, (Line(GPU, gpus // replicas * WHOLE_DEVICE),))


def with_limits(jobs: list[PastJob], seed: int) -> list[PastJob]:
    """The same with declared limits of one to ten times the run time."""
    chance = random.Random(seed)
    return [replace(job, limit_ms=round(job.duration_ms * chance.uniform(1, 10))) for job in jobs]


def fleet() -> Snapshot:
    """The hosts, one project, no quota."""
    return Snapshot(
        at_ms=0,
        classes=(ResourceClass("gpu", "GPU", Resource.DEVICE),),
        clusters=(Cluster("c", "Cluster", 0),),
        pools=(Pool("pool", "Pool"),),
        hosts=tuple(
            Host(f"h{n:02}", f"h{n:02}", "c", "pool", (), tuple(Device(f"h{n:02}/{g}", "gpu") for g in range(GPUS)))
            for n in range(HOSTS)
        ),
        tenants=(Tenant("org", "Organisation"), Tenant("lab", "Lab", "org")),
        grants=(Grant("g", "org", "pool", 0),),
    )


def _replay(name: str, jobs: list[PastJob], rules: Rules) -> list[Run]:
    begun = time.perf_counter()
    simulation = Simulation(fleet(), rules, jobs, every_ms=60 * SECOND)
    runs = list(simulation.run().values())
    seconds = time.perf_counter() - begun
    large, small = ([r for r in runs if keep(devices_of(r))] for keep in (lambda n: n >= 16, lambda n: n == 1))
    lines = [f"{title} {_said(rows)}" for title, rows in (("all", runs), ("1 GPU", small), (">= 16 GPUs", large))]
    print(f"{name}: {seconds:.0f} s, {simulation.passes} passes; " + "; ".join(lines), flush=True)
    return runs


def _said(runs: list[Run]) -> str:
    found = group(runs)
    hours = [(found.completion.mean or 0) / HOUR, (found.wait.mean or 0) / HOUR, (found.wait.p99 or 0) / HOUR]
    return "completion {:.2f} h, wait mean {:.2f} p99 {:.1f} h".format(*hours)


def _completion_h(runs: list[Run]) -> float:
    return (group(runs).completion.mean or 0) / HOUR


def _large_p99_h(runs: list[Run]) -> float:
    return (group(r for r in runs if devices_of(r) >= 16).wait.p99 or 0) / HOUR


if __name__ == "__main__":
    raise SystemExit(main())
