"""How long it takes to find whom to stop for a gang of 64 hosts on 1,000 full ones.

Eight projects of one team borrow all that another team owns half of; every host runs a mix of jobs of 1, 2, 4 and 8
cards, begun at different times. The owner asks for 64 hosts of eight cards. Through the same `cycle` as the product,
with reasons, under the shipped policy.
"""

import random
import time
from collections.abc import Iterator
from statistics import median

from jobs.scheduler.cycle import cycle
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
    PriorityClass,
    QuotaCell,
    Resource,
    ResourceClass,
    Running,
    Snapshot,
    Tenant,
    WaitingJob,
)
from jobs.states import AllocationState
from tests.bench.report import at_least, at_most, report

HOSTS, CARDS, GANG, PROJECTS = 1_000, 8, 64, 8
AT, HOUR, GIB = 1_796_040_000_000, 3_600_000, 1 << 30
CPU, MEMORY, GPU = Axis("cpu", Resource.CPU), Axis("memory", Resource.MEMORY), Axis("gpu", Resource.DEVICE)


def main() -> int:
    """Measure and print; the exit code."""
    snapshot, rules = build(), Rules()
    print(f"policy: {rules}")
    print(f"running jobs: {len(snapshot.running)}")
    seconds = []
    for _ in range(5):
        begun = time.perf_counter()
        result = cycle(snapshot, rules)
        seconds.append(time.perf_counter() - begun)
    (plan,) = result.preemptions
    freed = [line for held in snapshot.holdings if held.job in plan.victims for line in held.lines]
    cards = sum(line.amount for line in freed if line.axis == GPU) // WHOLE_DEVICE
    print(f"stopped: {len(plan.victims)} jobs with {cards} cards, on {len(plan.hosts)} hosts")
    return report(
        [
            at_most("reclaim-64: whole pass with the plan", median(seconds), "s", 1.0),
            at_least("reclaim-64: hosts of the gang", len(plan.hosts), "hosts", GANG),
            at_most("reclaim-64: cards taken beyond those asked for", cards - GANG * CARDS, "cards", 0),
        ]
    )


def build(seed: int = 1) -> Snapshot:
    """The fleet described above."""
    chance = random.Random(seed)
    hosts = tuple(_host(number) for number in range(HOSTS))
    holdings = tuple(_holdings(hosts, chance))
    half = HOSTS * CARDS * WHOLE_DEVICE // 2
    gang = PodSet("workers", GANG, (Line(CPU, 64_000), Line(GPU, CARDS * WHOLE_DEVICE)))
    return Snapshot(
        at_ms=AT,
        classes=(
            ResourceClass("cpu", "CPU", Resource.CPU),
            ResourceClass("memory", "Memory", Resource.MEMORY),
            ResourceClass("gpu", "GPU", Resource.DEVICE),
        ),
        clusters=(Cluster("c", "Cluster", AT),),
        pools=(Pool("pool", "Pool", borrowing=True),),
        hosts=hosts,
        tenants=(
            Tenant("org", "Organisation"),
            Tenant("owner", "Owner", "org"),
            Tenant("borrower", "Borrower", "org"),
            *(Tenant(f"p{number}", f"Project {number}", "borrower") for number in range(PROJECTS)),
        ),
        cells=(QuotaCell("owner", "pool", GPU, nominal=half), QuotaCell("borrower", "pool", GPU, nominal=half)),
        grants=(Grant("g", "org", "pool", 0),),
        waiting=(WaitingJob("gang", "owner", ("pool",), (Alternative("only", (gang,)),), AT - HOUR),),
        holdings=holdings,
        running=tuple(
            Running(
                job,
                chance.choice((PriorityClass.STANDARD, PriorityClass.BEST_EFFORT)),
                chance.randrange(3),
                started_ms=AT - chance.randrange(1, 48) * HOUR,
            )
            for job in sorted({holding.job for holding in holdings})
        ),
    )


def _host(number: int) -> Host:
    key = f"h{number:04}"
    devices = tuple(Device(f"{key}/{card}", "gpu") for card in range(CARDS))
    return Host(key, key, "c", "pool", (Line(CPU, 128_000), Line(MEMORY, 1024 * GIB)), devices)


def _holdings(hosts: tuple[Host, ...], chance: random.Random) -> Iterator[Holding]:
    number = 0
    for host in hosts:
        first = 0
        while first < CARDS:
            cards = min(chance.choice((1, 1, 2, 4, 8)), CARDS - first)
            yield Holding(
                allocation=f"a{number:05}",
                job=f"r{number:05}",
                tenant=f"p{number % PROJECTS}",
                pool="pool",
                host=host.key,
                state=AllocationState.BOUND,
                lines=(Line(CPU, cards * 8_000), Line(GPU, cards * WHOLE_DEVICE)),
                devices=tuple(DeviceShare(f"{host.key}/{first + i}", WHOLE_DEVICE) for i in range(cards)),
            )
            first += cards
            number += 1


if __name__ == "__main__":
    raise SystemExit(main())
