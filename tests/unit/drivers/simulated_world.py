"""A small simulated cluster on a clock of its own, for the tests beside."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from resources.drivers.base import MemberSpec, SeenMember, SeenWorkload, Workload
from resources.drivers.simulated.chance import Span
from resources.drivers.simulated.driver import SimulatedDriver
from resources.drivers.simulated.fleet import Fleet, Latency, read_fleet
from resources.drivers.simulated.store import MemoryStore, Store

START = datetime(2026, 3, 1, 8, tzinfo=UTC)
GPU = "nvidia.com/gpu"
STEADY = Latency(
    bind=Span(100, 100),
    pull=Span(2_000, 2_000),
    start=Span(500, 500),
    ready=Span(3_000, 3_000),
    stop=Span(1_000, 1_000),
    objects=Span(1_000, 1_000),
    devices=Span(2_000, 2_000),
)
"""Bound after 0.1 s, started after 2.6 s, ready after 5.6 s; free 1 s and idle 2 s after the end."""


def small_fleet(**changes: Any) -> Fleet:
    """Nodes sim-a and sim-b with two cards each, sim-c with none; steady latencies, no end of its own."""
    return replace(_read_once(), **{"latency": STEADY, "durations": {}, **changes})


@cache
def _read_once() -> Fleet:
    card = {"resource": GPU, "vendor": "NVIDIA", "kind": "GPU", "model": "card", "memory": "80Gi", "count": 2}
    size = {"cpu": "9", "memory": "34Gi"}
    nodes = [{"name": f"sim-{key}", **size, "devices": [card]} for key in "ab"]
    return read_fleet({"name": "small", "nodes": [*nodes, {"name": "sim-c", **size}]})


class SmallWorld:
    """A driver, its clock, and shorthands."""

    def __init__(self, store: Store | None = None, fleet: Fleet | None = None) -> None:
        self.now = START
        self.fleet = fleet or small_fleet()
        self.driver = SimulatedDriver(fleet=self.fleet, store=store or MemoryStore(), clock=lambda: self.now)

    def card(self, node: str = "sim-a", index: int = 0) -> str:
        return self.by_index(node)[index]

    def by_index(self, node: str) -> list[str]:
        return list(self.fleet.devices(node))

    def later(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def workload(self, key: str = "one", *, nodes: tuple[str, ...] = ("sim-a",), **changes: Any) -> Workload:
        """One member on each node; `cards`: how many of the node's, from the first; `hints` for the environment."""
        cards, hints = changes.pop("cards", 0), changes.pop("hints", {})
        members = tuple(
            MemberSpec(index, node, 1_000, 1 << 30, {GPU: tuple(self.by_index(node)[:cards])} if cards else {})
            for index, node in enumerate(nodes)
        )
        workload = Workload(
            name=f"j-{key}-a1",
            job_id=f"job-{key}",
            attempt_id=f"attempt-{key}",
            generation=1,
            task_type="batch",
            program="batch",
            command=(),
            params={"SIM_BEHAVIOUR": hints} if hints else {},
            members=members,
        )
        return replace(workload, **changes)

    def apply(self, key: str = "one", **changes: Any) -> Workload:
        workload = self.workload(key, **changes)
        self.driver.apply(workload)
        return workload

    def stop(self, workload: Workload, grace_s: float = 10) -> None:
        self.driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=int(grace_s * 1_000))

    def seen(self, workload: Workload) -> SeenWorkload | None:
        return next((one for one in self.driver.observe().workloads if one.name == workload.name), None)

    def members(self, workload: Workload) -> tuple[SeenMember, ...]:
        one = self.seen(workload)
        assert one is not None
        return one.members

    def member(self, workload: Workload) -> SeenMember:
        (one,) = self.members(workload)
        return one

    def release(self, workload: Workload) -> Any:
        return self.driver.release(workload.name, attempt_id=workload.attempt_id)

    def forget(self, workload: Workload) -> None:
        self.driver.forget(workload.name, attempt_id=workload.attempt_id)

    def log(self, workload: Workload, member: int = 0) -> str:
        return self.driver.logs(workload.name, member=member, offset=0, limit=1 << 22)[0].decode()


def after(seconds: float) -> datetime:
    """So long after the beginning."""
    return START + timedelta(seconds=seconds)


def document(**changes: Any) -> Mapping[str, Any]:
    """A fleet document of one node, changed."""
    return {"name": "one", "nodes": [{"name": "sim-a", "cpu": "4", "memory": "8Gi"}], **changes}
