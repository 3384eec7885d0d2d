"""Which running jobs may be stopped for a waiting one, by which rule, and in which order they would be chosen."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from jobs.scheduler.quota import QuotaBook
from jobs.scheduler.rules import Rules
from jobs.scheduler.shape import Way
from jobs.scheduler.share import Shares
from jobs.scheduler.snapshot import Axis, Holding, Line, Resource, Running, Snapshot, WaitingJob
from jobs.states import AllocationState

Cost = tuple[int, int, int, int, int, str]


class Rule(StrEnum):
    """By what right a job is stopped for another."""

    RECLAIM = "reclaim"  # what is normally the waiting job's own is taken back from who holds more than is theirs
    PRIORITY = "priority"  # a job of the same project with a lower priority
    FAIR_SHARE = "fair_share"  # where no quota says whose it is: the share of both sides


class Victim(NamedTuple):
    """A running job that may be stopped, all it holds, and what it would cost: less is chosen first.

    `cost`: how far away in the tree, class (lowest first), priority, device time lost, age (newest first), key.
    """

    job: str
    tenant: str
    holdings: tuple[Holding, ...]
    cost: Cost

    @property
    def lines(self) -> tuple[Line, ...]:
        """What it holds, by axis."""
        sums: Counter[Axis] = Counter()
        for holding in self.holdings:
            for axis, amount in holding.lines:
                sums[axis] += amount
        return tuple(Line(axis, amount) for axis, amount in sorted(sums.items()))


@dataclass(frozen=True, slots=True)
class Claimant:
    """A waiting job, one way to run it, and the subtree in whose name it asks."""

    job: WaitingJob
    way: Way
    rule: Rule
    within: str  # a tenant on its path


class Candidates:
    """The running jobs of one snapshot, and the rules that protect them."""

    def __init__(self, snapshot: Snapshot, rules: Rules, shares: Shares) -> None:
        self._at, self._rules, self._shares = snapshot.at_ms, rules, shares
        self._running = {row.job: row for row in snapshot.running}
        self.stopping: set[str] = {row.job for row in snapshot.running if row.stopping_for is not None}
        by_pool: defaultdict[str, defaultdict[str, list[Holding]]] = defaultdict(lambda: defaultdict(list))
        may = {key for key, row in self._running.items() if self._is_open(row)}
        for holding in snapshot.holdings if may else ():
            if holding.job in may and holding.state is AllocationState.BOUND:
                by_pool[holding.pool][holding.job].append(holding)
        self._by_pool = by_pool

    def any_in(self, pool: str) -> bool:
        """Whether anything runs in the pool that may be stopped for anybody."""
        return pool in self._by_pool

    def claims(self, book: QuotaBook, job: WaitingJob, way: Way) -> Iterator[Claimant]:
        """By which rules the job may ask for others to be stopped, the strongest first."""
        owner = _owner(book, job.tenant, way)
        if owner is not None:
            yield Claimant(job, way, Rule.RECLAIM, owner)
        yield Claimant(job, way, Rule.PRIORITY, job.tenant)
        if owner is None and not any(_has_rule(book, above, way) for above in book.path(job.tenant)):
            yield Claimant(job, way, Rule.FAIR_SHARE, job.tenant)

    def of(self, book: QuotaBook, claimant: Claimant) -> list[Victim]:
        """Who may be stopped for the claimant as things are in the book, the cheapest first."""
        found = []
        for key, holdings in self._by_pool.get(claimant.way.pool.key, {}).items():
            running = self._running[key]
            if key not in self.stopping and self.may_stop(book, claimant, holdings[0].tenant, running, holdings):
                cost = self._cost(book, claimant, running, holdings)
                found.append(Victim(key, holdings[0].tenant, tuple(holdings), cost))
        return sorted(found, key=lambda victim: victim.cost)

    def all_may_stop(self, book: QuotaBook, claimant: Claimant, victims: Iterable[Victim]) -> bool:
        """Whether each may be stopped once those before it are. Uses the book up."""
        for victim in victims:
            running = self._running[victim.job]
            if not self.may_stop(book, claimant, victim.tenant, running, victim.holdings):
                return False
            book.charge(victim.tenant, claimant.way.pool.key, victim.lines, -1)
        return True

    def may_stop(
        self, book: QuotaBook, claimant: Claimant, tenant: str, running: Running, holdings: Iterable[Holding]
    ) -> bool:
        """Whether the rule of the claimant reaches this job."""
        job, way = claimant.job, claimant.way
        if claimant.rule is Rule.PRIORITY:
            return tenant == job.tenant and _standing(running) > _standing(job)
        path, mine = book.path(tenant), book.path(claimant.within)
        if claimant.within in path:
            return False  # its own subtree
        below = [above for above in path if above not in mine]
        if claimant.rule is Rule.RECLAIM:
            return all(_is_above(book, above, way) for above in below if _has_rule(book, above, way))
        ours = [above for above in book.path(job.tenant) if above not in path]
        if any(_has_rule(book, above, way) for above in (*below, *ours)):
            return False
        lost: Counter[Axis] = Counter()
        for holding in holdings:
            for axis, amount in holding.lines:
                lost[axis] -= amount
        gain = tuple(way.demand.total)
        after = self._shares.share(book, ours[-1], way.pool.key, gain)
        return after <= self._shares.share(book, below[-1], way.pool.key, tuple(Line(a, n) for a, n in lost.items()))

    def _is_open(self, running: Running) -> bool:
        """Whether it may be stopped by anybody: not protected by its kind, its age or what it went through."""
        if not running.preemptible or running.job in self.stopping or running.started_ms is None:
            return False
        if self._at - running.started_ms < self._rules.min_run_ms:
            return False
        return running.preempted < self._rules.preemption_budget

    def _cost(self, book: QuotaBook, claimant: Claimant, running: Running, holdings: list[Holding]) -> Cost:
        path = book.path(holdings[0].tenant)
        mine = book.path(claimant.within)
        distance = next((place for place, above in enumerate(mine) if above in path), len(mine))
        parts = sum(n for h in holdings for axis, n in h.lines if axis.resource is Resource.DEVICE)
        begun = running.started_ms or 0
        lost = parts * max(0, self._at - max(begun, running.saved_ms or 0))
        return (distance, -running.priority_class.rank, running.priority, lost, -begun, running.job)


def _owner(book: QuotaBook, tenant: str, way: Way) -> str | None:
    """The nearest tenant on the path that stays within what is normally its own with this job too."""
    pool = way.pool.key
    for above in book.path(tenant):
        rules = [(n, book.held(above, pool, axis)) for axis, n in way.demand.total]
        bounded = [(n, used, nominal) for n, (used, _, nominal) in rules if nominal is not None]
        if bounded and all(used + n <= nominal for n, used, nominal in bounded):
            return above
    return None


def _has_rule(book: QuotaBook, tenant: str, way: Way) -> bool:
    return any(book.held(tenant, way.pool.key, axis)[2] is not None for axis, _ in way.demand.total)


def _is_above(book: QuotaBook, tenant: str, way: Way) -> bool:
    """Whether a tenant holds more than is normally its own of something the way asks for."""
    held = (book.held(tenant, way.pool.key, axis) for axis, _ in way.demand.total)
    return any(nominal is not None and used > nominal for used, _, nominal in held)


def _standing(job: Running | WaitingJob) -> tuple[int, int]:
    """Larger is less: class, then priority as it was given, not as it aged."""
    return (job.priority_class.rank, -job.priority)
