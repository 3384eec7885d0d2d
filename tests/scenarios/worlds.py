"""Random small worlds for property tests, and what must hold of them, worked out without the scheduler's own code."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from hypothesis import strategies as st

from jobs.scheduler.cycle import cycle
from jobs.scheduler.rules import Rules
from jobs.scheduler.snapshot import (
    WHOLE_DEVICE,
    Alternative,
    Axis,
    PodSet,
    Pool,
    PriorityClass,
    QuotaCell,
    Resource,
    Snapshot,
    WaitingJob,
)
from jobs.states import HOLDS_QUOTA, AllocationState
from tests.scenarios.given import CARDS, HOUR, NOON, Given, applied, lines

PROJECTS = ("a1", "a2", "b1")
T = TypeVar("T")
POOLS = ("train", "spare")
QUICK = Rules(forecast_steps=0)
HELD_STATES = (AllocationState.BOUND, AllocationState.BOUND, AllocationState.RELEASING, AllocationState.LEAKED)


class Dice:
    """Choices for one world. Made by hypothesis they shrink; made by `random.Random` they are quick."""

    def __init__(self, whole: Callable[[int, int], int]) -> None:
        """`whole(low, high)` chooses an integer between the two, both included."""
        self.whole = whole

    def pick(self, *choices: T) -> T:
        """One of the choices."""
        return choices[self.whole(0, len(choices) - 1)]


def fleet(dice: Dice) -> Given:
    """Two pools, up to five hosts in two clusters, a tree of three projects, quotas and grants; nothing held."""
    given = Given().cluster("edge", stale=dice.pick(False, True))
    given.device_class("a100", divisible=dice.pick(False, True)).device_class("old")
    for pool in POOLS:
        given.pool(pool, granted=dice.whole(0, 9) < 9, borrowing=dice.pick(False, True))
    for number in range(dice.whole(1, 5)):
        _host(dice, given, f"n{number}")
    given.tenant("a").tenant("b")
    for project in PROJECTS:
        given.tenant(project, project[0])
    given.cells = [_cell(dice, tenant) for tenant in ("org", "a", "b", *PROJECTS) if dice.pick(False, True)]
    if dice.pick(False, True):
        given.granted(dice.pick("a", "a1"), most_at_once=dice.whole(0, 2))
    return given


def _host(dice: Dice, given: Given, name: str) -> None:
    given.host(
        name,
        dice.whole(0, 4),
        dice.whole(1, 8),
        dice.whole(1, 8),
        of=dice.pick("a100", "a100", "old"),
        pool=dice.pick("train", "train", "spare"),
        cluster=dice.pick("dc", "dc", "edge"),
        broken=dice.pick(0, 0, 0, 1),
        blocked=(blocked := dice.pick(None, None, None, "cordoned")),
        trial=blocked is not None and dice.pick(False, True),
        slots=dice.pick(None, None, 2),
        labels=dice.pick((), (("zone", "b"),)),
    )


def _cell(dice: Dice, tenant: str) -> QuotaCell:
    in_order = sorted(dice.whole(0, 8) * WHOLE_DEVICE for _ in range(3))
    return QuotaCell(tenant, "train", CARDS, *(dice.pick(amount, amount, None) for amount in in_order))


def _job(dice: Dice, pod_sets: int) -> dict[str, Any]:
    """The facts of one job of at most so many pod sets in each of one or two alternatives."""
    ways = tuple(
        Alternative(key, tuple(_pods(dice, f"set{number}") for number in range(dice.whole(1, pod_sets))))
        for key in ("first", "second")[: dice.whole(1, 2)]
    )
    return {
        "tenant": dice.pick(*PROJECTS),
        "alternatives": ways,
        "pools": dice.pick(("train",), ("train", "spare"), ("spare",)),
        "priority": dice.whole(0, 2),
        "priority_class": dice.pick(PriorityClass.STANDARD, PriorityClass.PRODUCTION),
        "submitted_ms": NOON - dice.whole(0, 3) * HOUR,
        "time_limit_ms": dice.pick(None, HOUR, 2 * HOUR, 3 * HOUR),
        "max_wait_ms": dice.pick(None, None, None, 2 * HOUR),
        "labels": dice.pick((), (), (("zone", "b"),)),
        "excluded_hosts": dice.pick((), (), ("n0",)),
        "host": dice.pick(None, None, None, "n0", "n1"),
    }


def _pods(dice: Dice, name: str) -> PodSet:
    cards = dice.pick(0, 1, 1, 2, 3, 0.25, 0.5)
    demand = lines(cards, dice.whole(0, 3), dice.whole(0, 3), dice.pick("a100", "a100", "old"))
    return PodSet(name, dice.whole(1, 4), demand)


def snapshot_of(dice: Dice, pod_sets: int = 1) -> Snapshot:
    """A fleet on which a first pass has placed some jobs, and other jobs that wait."""
    given = fleet(dice)
    for number in range(dice.whole(0, 4)):
        given.job(f"r{number}", **_job(dice, pod_sets))
    first = given.snapshot()
    begun = applied(first, cycle(first, QUICK))
    given.holdings = [replace(holding, state=dice.pick(*HELD_STATES)) for holding in begun.holdings]
    given.jobs = []
    for number in range(dice.whole(1, 5)):
        given.job(f"w{number}", **_job(dice, pod_sets))
    return given.snapshot()


@st.composite
def snapshots(draw: st.DrawFn, pod_sets: int = 1) -> Snapshot:
    """`snapshot_of` with choices made by hypothesis."""
    return snapshot_of(Dice(lambda low, high: draw(st.integers(low, high))), pod_sets)


def overfull(snapshot: Snapshot) -> list[str]:
    """Every host, device or pod bound that more is held on than there is."""
    found = []
    for host in snapshot.hosts:
        held: Counter[Axis] = Counter()
        shares: Counter[str] = Counter()
        pods = 0
        for holding in snapshot.holdings:
            if holding.host == host.key:
                pods += holding.pods
                held.update({axis: amount for axis, amount in holding.lines if axis.resource is not Resource.DEVICE})
                shares.update(dict(holding.devices))
                in_lines = sum(amount for axis, amount in holding.lines if axis.resource is Resource.DEVICE)
                found += [f"{host.key}: devices differ from lines"] * (in_lines != sum(p for _, p in holding.devices))
        found += [f"{host.key}: {axis}" for axis, n in held.items() if n > dict(host.allocatable).get(axis, 0)]
        known = {device.key for device in host.devices}
        found += [f"{host.key}: {key}" for key, n in shares.items() if n > WHOLE_DEVICE or key not in known]
        found += [f"{host.key}: pods"] * (host.slots is not None and pods > host.slots)
    return found


def overdrawn(snapshot: Snapshot) -> set[tuple[str, str, Axis]]:
    """Every tenant, pool and axis charged beyond its bound, by recursion over the tree."""
    axes = {cell.axis for cell in snapshot.cells}
    return {over for pool in snapshot.pools for axis in axes for over in _Tree(snapshot, pool, axis).overdrawn()}


class _Tree:
    """Quota on one axis of one pool, added up from nothing for every question."""

    def __init__(self, snapshot: Snapshot, pool: Pool, axis: Axis) -> None:
        self.pool, self.axis = pool, axis
        self.cells = {c.tenant: c for c in snapshot.cells if (c.pool, c.axis) == (pool.key, axis)}
        self.children: defaultdict[str | None, list[str]] = defaultdict(list)
        for tenant in snapshot.tenants:
            self.children[tenant.parent].append(tenant.key)
        self.held: Counter[str] = Counter()
        for holding in snapshot.holdings:
            if holding.pool == pool.key and holding.state in HOLDS_QUOTA:
                self.held[holding.tenant] += sum(amount for a, amount in holding.lines if a == axis)

    def overdrawn(self) -> Iterator[tuple[str, str, Axis]]:
        for tenant, cell in self.cells.items():
            may_borrow = self.pool.borrowing and tenant != "org"
            bounds = (cell.ceiling, None if may_borrow else cell.nominal)
            if any(bound is not None and self.total(tenant) > bound for bound in bounds):
                yield tenant, self.pool.key, self.axis
        together = self.owners("org")
        if self.pool.borrowing and together != ["org"]:
            owned = sum(self.cells[owner].nominal or 0 for owner in together)
            if sum(self.charged(owner) for owner in together) > owned:
                yield "group", self.pool.key, self.axis

    def total(self, tenant: str) -> int:
        return self.held[tenant] + sum(self.charged(child) for child in self.children[tenant])

    def charged(self, tenant: str) -> int:
        cell = self.cells.get(tenant)
        return max(self.total(tenant), (cell.guarantee or 0) if cell else 0)

    def owners(self, tenant: str) -> list[str]:
        if tenant in self.cells and self.cells[tenant].nominal is not None:
            return [tenant]
        return [owner for child in self.children[tenant] for owner in self.owners(child)]


def only(snapshot: Snapshot, job: str) -> Snapshot:
    """The job alone with everything free, healthy, fresh and unused; the rules stay."""
    return replace(
        snapshot,
        waiting=tuple(_unhindered(row) for row in snapshot.waiting if row.key == job),
        holdings=(),
        hosts=tuple(
            replace(host, blocked=None, devices=tuple(replace(d, healthy=True) for d in host.devices))
            for host in snapshot.hosts
        ),
        clusters=tuple(replace(cluster, stale=False) for cluster in snapshot.clusters),
        grants=tuple(replace(grant, most_at_once=None) for grant in snapshot.grants),
    )


def _unhindered(job: WaitingJob) -> WaitingJob:
    return replace(job, excluded_hosts=(), hold=None, not_before_ms=None, max_wait_ms=None)
