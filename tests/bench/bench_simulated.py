"""`simulated`: the simulated driver with 10,000 nodes and 50,000 pods on 6,250 workloads of eight, all running.

The first look works every course out, as after a restart; later ones are what a reconcile pass costs. The median of
three counts; the processor time of the first looks is printed beside it, to tell a busy machine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TypeVar

from resources.drivers.base import MemberSpec, Workload
from resources.drivers.simulated.driver import SimulatedDriver
from resources.drivers.simulated.faults import FaultKind
from resources.drivers.simulated.fleet import Fleet, read_fleet
from resources.drivers.simulated.sqlite import SqliteStore
from resources.drivers.simulated.store import MemoryStore, Store
from tests.bench.report import Figure, at_least, at_most, report

T = TypeVar("T")
NODES, PODS, MEMBERS = 10_000, 50_000, 8
CYCLES = 500
START = datetime(2026, 1, 1, tzinfo=UTC)
LOOK_S, VERB_MS = 2.0, 0.5


def main() -> int:
    """Measure and print; the exit code."""
    print(f"machine: {os.cpu_count()} CPUs, load average {os.getloadavg()[0]:.1f} before the start")
    fleet = _fleet(NODES)
    figures = _many(fleet)
    with TemporaryDirectory() as folder:
        figures.append(_life("on disk", fleet, SqliteStore(Path(folder) / "disk"), deferred=False))
        figures.append(_life("on disk, deferred", fleet, SqliteStore(Path(folder) / "deferred"), deferred=True))
    figures.append(_life("in memory", fleet, MemoryStore(), deferred=False))
    return report(figures)


def _many(fleet: Fleet) -> list[Figure]:
    """Looks at the whole cluster."""
    now = [START]
    driver = SimulatedDriver(fleet=fleet, clock=lambda: now[0])
    begun = time.perf_counter()
    for number in range(PODS // MEMBERS):
        driver.apply(_workload(fleet, number))
    applied = time.perf_counter() - begun
    now[0] += timedelta(minutes=10)
    firsts, used = [], time.process_time()
    for _ in range(3):
        driver = SimulatedDriver(fleet=fleet, store=driver.store, clock=lambda: now[0])
        took, observation = _took(driver.observe)
        firsts.append(took)
    print(f"processor time of a first look: {(time.process_time() - used) / 3:.3g} s")
    looks = []
    for _ in range(3):
        now[0] += timedelta(seconds=5)
        looks.append(_took(driver.observe)[0])
    for node in fleet.nodes[: NODES // 100]:
        driver.inflict(FaultKind.NODE_DEATH, node=node.name)
    driver.inflict(FaultKind.OUT_OF_MEMORY, chance=1)
    now[0] += timedelta(seconds=5)
    faulty, _ = _took(driver.observe)
    inventory, nodes = _took(lambda: len(driver.inventory().nodes))
    print(f"applied {PODS // MEMBERS} workloads in {applied:.3g} s")
    return [
        at_most(f"observe, first look at {PODS:,} pods", median(firsts), "s", LOOK_S),
        at_most(f"observe, a later look at {PODS:,} pods", median(looks), "s", LOOK_S),
        at_most("observe, the first look after a hundred nodes died", faulty, "s", LOOK_S),
        at_most(f"inventory of {NODES:,} nodes", inventory, "s", LOOK_S),
        at_least("observe pods listed", len(observation.workloads) * MEMBERS, "pods", PODS),
        at_least("inventory nodes listed", nodes, "nodes", NODES),
    ]


def _life(where: str, fleet: Fleet, store: Store, *, deferred: bool) -> Figure:
    """All verbs once per workload from apply to forget, two hundred under way at once."""
    now = [START]
    driver = SimulatedDriver(fleet=fleet, store=store, clock=lambda: now[0])
    begun = time.perf_counter()
    if deferred:
        with store.deferred():
            _lives(driver, fleet, now)
    else:
        _lives(driver, fleet, now)
    took = (time.perf_counter() - begun) * 1_000 / CYCLES
    return at_most(f"six verbs, apply to forget, {where}", took, "ms", 6 * VERB_MS)


def _lives(driver: SimulatedDriver, fleet: Fleet, now: list[datetime]) -> None:
    under_way: list[Workload] = []
    for number in range(CYCLES):
        one = _workload(fleet, number, members=1)
        driver.apply(one)
        driver.observe()
        under_way.append(one)
        if len(under_way) == 200 or number == CYCLES - 1:
            now[0] += timedelta(days=1)
            for over in under_way:
                driver.stop(over.name, attempt_id=over.attempt_id, grace_ms=0)
                driver.release(over.name, attempt_id=over.attempt_id)
            now[0] += timedelta(minutes=1)
            for over in under_way:
                driver.logs(over.name, member=0, offset=0, limit=1 << 20)
                driver.forget(over.name, attempt_id=over.attempt_id)
            under_way = []


def _fleet(count: int) -> Fleet:
    card = {"resource": "nvidia.com/gpu", "vendor": "NVIDIA", "kind": "GPU", "model": "card", "count": MEMBERS}
    node = {"name": "sim-n{n}", "count": count, "cpu": "128", "memory": "1Ti", "devices": [card]}
    return read_fleet({"name": "many", "nodes": [node]})


def _workload(fleet: Fleet, number: int, members: int = MEMBERS) -> Workload:
    """Each member takes one card of a node of its own."""
    specs = []
    for index in range(members):
        slot = number * members + index
        node = fleet.nodes[slot % NODES]
        uuid = node.groups[0].devices[slot // NODES].uuid
        specs.append(MemberSpec(index, node.name, 8_000, 64 << 30, {"nvidia.com/gpu": (uuid,)}))
    return Workload(
        name=f"j-{number:06}-a1",
        job_id=f"job-{number:06}",
        attempt_id=f"attempt-{number:06}",
        generation=1,
        task_type="inference",
        program="inference",
        command=(),
        params={},
        members=tuple(specs),
        serves=True,
        gang=False,
    )


def _took(do: Callable[[], T]) -> tuple[float, T]:
    """Seconds and the answer."""
    begun = time.perf_counter()
    answer = do()
    return time.perf_counter() - begun, answer


if __name__ == "__main__":
    raise SystemExit(main())
