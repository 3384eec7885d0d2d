"""`pass-5k`: one pass over 5,000 hosts and 10,000 waiting jobs of 50 shapes, explanations and estimates included.

The fleet: five device classes, eight cards a host, most hosts full, two thirds of the running jobs with a time limit;
40 projects in 8 teams with nominal quotas. The median wall time of five passes counts; the processor time is printed
beside it, to tell a busy machine. Policy: the shipped default.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from statistics import median

from jobs.scheduler.cycle import cycle
from jobs.scheduler.decision import Admit
from jobs.scheduler.rules import Rules
from jobs.scheduler.snapshot import (
    WHOLE_DEVICE,
    Alternative,
    Axis,
    Cluster,
    Device,
    DeviceShare,
    Grant,
    Holding,
    Host,
    Line,
    PodSet,
    Pool,
    QuotaCell,
    Resource,
    ResourceClass,
    Snapshot,
    Tenant,
    WaitingJob,
)
from jobs.states import AllocationState
from tests.bench.report import at_least, at_most, report

HOSTS, WAITING, SHAPES, CARDS = 5_000, 10_000, 50, 8
PROJECTS, TEAMS, KINDS = 40, 8, 5
AT, HOUR, GIB = 1_796_040_000_000, 3_600_000, 1 << 30
CPU, MEMORY = Axis("cpu", Resource.CPU), Axis("memory", Resource.MEMORY)
SIZES = ((1, 1), (1, 1), (2, 1), (4, 1), (8, 1), (8, 2), (8, 4), (1, 8), (8, 16), (0, 1))


def main() -> int:
    """Measure and print; the exit code."""
    snapshot = build(HOSTS, WAITING, SHAPES)
    rules = Rules()
    print(f"policy: {rules}")
    wall, processor = [], []
    for _ in range(5):
        begun, used = time.perf_counter(), time.process_time()
        result = cycle(snapshot, rules)
        wall.append(time.perf_counter() - begun)
        processor.append(time.process_time() - used)
    print(f"processor time: {median(processor):.3g} s of {median(wall):.3g} s")
    admitted = sum(isinstance(decision, Admit) for decision in result.decisions)
    print(f"shapes (with project): {result.stats.shapes}, admitted: {admitted}, never: {result.stats.never}")
    return report(
        [
            at_most("pass-5k", median(wall), "s", 1.0),
            at_least("pass-5k decisions with a reason or a host list", len(result.decisions), "jobs", WAITING),
        ]
    )


def build(hosts: int, waiting: int, shapes: int, seed: int = 1) -> Snapshot:
    """The fleet described above, the same for the same arguments."""
    chance = random.Random(seed)
    rows = tuple(_host(number) for number in range(hosts))
    return Snapshot(
        at_ms=AT,
        classes=(
            ResourceClass("cpu", "CPU", Resource.CPU),
            ResourceClass("memory", "Memory", Resource.MEMORY),
            *(ResourceClass(f"gpu-{kind}", f"GPU {kind}", Resource.DEVICE) for kind in range(KINDS)),
        ),
        clusters=tuple(Cluster(f"c{number}", f"Cluster {number}", AT) for number in range(2)),
        pools=tuple(Pool(f"pool-{kind}", f"Pool {kind}") for kind in range(KINDS)),
        hosts=rows,
        tenants=tuple(_tenants()),
        cells=tuple(_cells(hosts)),
        grants=tuple(Grant(f"g{kind}", "org", f"pool-{kind}", 0) for kind in range(KINDS)),
        waiting=tuple(_waiting(waiting, shapes, chance)),
        holdings=tuple(_holdings(rows, chance)),
    )


def _host(number: int) -> Host:
    kind = number % KINDS
    key = f"h{number:05}"
    return Host(
        key=key,
        name=key,
        cluster=f"c{number // KINDS % 2}",
        pool=f"pool-{kind}",
        allocatable=(Line(CPU, 128_000), Line(MEMORY, 1024 * GIB)),
        devices=tuple(Device(f"{key}/{card}", f"gpu-{kind}") for card in range(CARDS)),
    )


def _tenants() -> Iterator[Tenant]:
    yield Tenant("org", "Organisation")
    for team in range(TEAMS):
        yield Tenant(f"t{team}", f"Team {team}", "org")
    for project in range(PROJECTS):
        yield Tenant(f"p{project}", f"Project {project}", f"t{project % TEAMS}")


def _cells(hosts: int) -> Iterator[QuotaCell]:
    of_kind = hosts // KINDS * CARDS * WHOLE_DEVICE
    for kind in range(KINDS):
        axis = Axis(f"gpu-{kind}", Resource.DEVICE)
        for team in range(TEAMS):
            yield QuotaCell(f"t{team}", f"pool-{kind}", axis, nominal=of_kind // TEAMS * 2)
        for project in range(PROJECTS):
            yield QuotaCell(f"p{project}", f"pool-{kind}", axis, nominal=of_kind // PROJECTS * 4)


def _lines(kind: int, cards: int) -> tuple[Line, ...]:
    amounts = (Line(Axis(f"gpu-{kind}", Resource.DEVICE), cards * WHOLE_DEVICE),) if cards else ()
    return (*amounts, Line(CPU, 8_000 * max(1, cards)), Line(MEMORY, 64 * GIB * max(1, cards)))


def _waiting(count: int, shapes: int, chance: random.Random) -> Iterator[WaitingJob]:
    for number in range(count):
        shape = number % shapes
        kind, (cards, replicas) = shape % KINDS, SIZES[shape // KINDS % len(SIZES)]
        pods = PodSet("workers", replicas, _lines(kind, cards))
        yield WaitingJob(
            key=f"w{number:06}",
            tenant=f"p{chance.randrange(PROJECTS)}",
            pools=(f"pool-{kind}",),
            alternatives=(Alternative("only", (pods,)),),
            submitted_ms=AT - chance.randrange(24 * HOUR),
            priority=chance.randrange(3),
            time_limit_ms=8 * HOUR,
        )


def _holdings(hosts: tuple[Host, ...], chance: random.Random) -> Iterator[Holding]:
    for number, host in enumerate(hosts):
        kind, used = number % KINDS, 0
        while used < CARDS and chance.random() < 0.97:
            cards = min(chance.choice((1, 2, 4, 8)), CARDS - used)
            yield Holding(
                allocation=f"a{number:05}-{used}",
                job=f"r{number:05}-{used}",
                tenant=f"p{chance.randrange(PROJECTS)}",
                pool=host.pool,
                host=host.key,
                state=AllocationState.BOUND,
                lines=_lines(kind, cards),
                devices=tuple(DeviceShare(d.key, WHOLE_DEVICE) for d in host.devices[used : used + cards]),
                ends_ms=AT + chance.randrange(48 * HOUR) if chance.random() < 0.67 else None,
            )
            used += cards


if __name__ == "__main__":
    raise SystemExit(main())
