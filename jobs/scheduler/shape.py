"""Jobs that differ in nothing that matters to the cycle are one shape, judged once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby, product
from operator import attrgetter

from jobs.reasons import Kind, Reason
from jobs.scheduler.block import Block, Words
from jobs.scheduler.demand import Demand
from jobs.scheduler.fit import Fits, Scope
from jobs.scheduler.grants import Grants
from jobs.scheduler.inventory import Inventory
from jobs.scheduler.price import price_per_hour
from jobs.scheduler.quota import QuotaBook
from jobs.scheduler.snapshot import Alternative, PodSet, Pool, Resource, Snapshot, WaitingJob
from jobs.scheduler.world import World


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """One alternative in one pool. `block` is what stops it whatever the pass gives out; None: it may start."""

    alternative: str
    pool: Pool
    demand: Demand
    price_micro_per_hour: int | None
    block: Block | None
    tier: int = 0  # ways of one tier are liked equally


@dataclass(slots=True, eq=False)
class Shape:
    """All ways to run jobs of one shape, best first.

    `blocked` once one of them could not start in this pass; `spent` once neither stopping others nor keeping room is
    to be tried again.
    """

    tenant: str
    scope: Scope
    ways: tuple[Way, ...]
    open_ways: tuple[Way, ...]  # those that only wait for room, quota or their turn
    nothing: Block | None  # why there is no way at all
    is_never: bool  # no way could start, however empty the pools were
    time_limit_ms: int | None
    blocked: bool = field(default=False)
    spent: bool = field(default=False)


class Shapes:
    """The shapes of one snapshot, each made when its first job is met."""

    def __init__(self, snapshot: Snapshot, words: Words, world: World, book: QuotaBook, grants: Grants) -> None:
        self._snapshot = snapshot
        self._book, self._grants = book, grants
        self._pools = {pool.key: pool for pool in snapshot.pools}
        self._inventory = Inventory(world, words)
        self._unused = QuotaBook(snapshot, words, unused=True)
        self._shapes: dict[tuple[object, ...], Shape] = {}
        self._by_id: dict[int, int] = {}  # ids are safe: the snapshot keeps the objects
        self._numbers: dict[tuple[Alternative, ...], int] = {}
        self._priced: dict[tuple[PodSet, ...], tuple[Demand, int | None]] = {}

    def __len__(self) -> int:
        """How many shapes were met."""
        return len(self._shapes)

    def of(self, job: WaitingJob) -> Shape:
        """The shape of a job: everything of it but its identity, age and own hold."""
        key = (
            self._number_of(job.alternatives),
            job.tenant,
            job.pools,
            job.priority_class,
            job.time_limit_ms,
            job.cheapest_first,
            job.labels,
            job.excluded_hosts,
            job.drivers,
            job.runtime,
            job.host,
        )
        known = self._shapes.get(key)
        if known is None:
            known = self._shapes[key] = self._make(job)
        return known

    def _number_of(self, alternatives: tuple[Alternative, ...]) -> int:
        """One number for equal alternatives: hashing them takes longer than all else about a job."""
        number = self._by_id.get(id(alternatives))
        if number is None:
            number = self._by_id[id(alternatives)] = self._numbers.setdefault(alternatives, len(self._numbers))
        return number

    def _make(self, job: WaitingJob) -> Shape:
        ways = tuple(self._ways(job))
        open_ways = tuple(way for way in ways if way.block is None)
        scope = _scope_of(job)
        nothing = None if ways else self._no_way(job)
        blocks = [way.block for way in ways] or [nothing]
        is_never = all(block is not None and block.reason.kind is Kind.NEVER for block in blocks)
        return Shape(job.tenant, scope, ways, open_ways, nothing, is_never, job.time_limit_ms)

    def _no_way(self, job: WaitingJob) -> Block:
        if not job.alternatives:
            return Block(Reason.EMPTY_DEMAND, {})
        return Block(Reason.NO_POOL, {"project": self._book.name(job.tenant)})

    def _ways(self, job: WaitingJob) -> Iterator[Way]:
        priced = [(alternative.key, *self._demand(alternative.pod_sets)) for alternative in job.alternatives]
        equals = [[way] for way in priced]
        if job.cheapest_first:
            equals = [list(ways) for _, ways in groupby(sorted(priced, key=_price_rank), key=_price_rank)]
        for tier, (ways, pool) in enumerate(product(equals, job.pools)):
            for key, demand, price in ways:
                yield replace(self._way(job, key, demand, price, pool), tier=tier)

    def _demand(self, pod_sets: tuple[PodSet, ...]) -> tuple[Demand, int | None]:
        """The one Demand of equal pod sets, and its price per hour."""
        if pod_sets not in self._priced:
            demand = Demand(pod_sets)
            self._priced[pod_sets] = demand, price_per_hour(demand.total, self._snapshot.rates)
        return self._priced[pod_sets]

    def _way(self, job: WaitingJob, key: str, demand: Demand, price: int | None, pool_key: str) -> Way:
        pool = self._pools.get(pool_key)
        if pool is None:
            missing = Pool(pool_key, pool_key)
            return Way(key, missing, demand, price, Block(Reason.POOL_NOT_FOUND, {"pool": pool_key}))
        return Way(key, pool, demand, price, self._standing_block(job, pool, demand))

    def _standing_block(self, job: WaitingJob, pool: Pool, demand: Demand) -> Block | None:
        """What stops a job whatever is free: first what never can be, then what is held."""
        return (
            self._inventory.invalid(demand)
            or self._inventory.never(demand, pool, tuple(sorted(job.labels)), job.host)
            or self._grants.out_of_bounds(job, pool, demand)
            or self._unused.check_ever(job.tenant, pool.key, demand.total)
            or _paused(pool)
            or self._grants.missing(job.tenant, pool)
        )


def best_first(shape: Shape, fits: Fits) -> Iterator[Way]:
    """The open ways as they are to be tried: of equally liked ones those that have room, the best host first."""
    for _, tier in groupby(shape.open_ways, key=attrgetter("tier")):
        ways = tuple(tier)
        yield from ways if len(ways) == 1 else _by_score(ways, shape.scope, fits)


def _by_score(ways: tuple[Way, ...], scope: Scope, fits: Fits) -> list[Way]:
    rated = []
    for way in ways:
        scores = [fits.best(site, scope, way.demand) for site in fits.world.sites.get(way.pool.key, ())]
        best = max((score for score in scores if score is not None), default=None)
        if best is not None:
            rated.append((best, way))
    return [way for _, way in sorted(rated, key=lambda pair: -pair[0])]


def _price_rank(way: tuple[str, Demand, int | None]) -> tuple[bool, int]:
    return (way[2] is None, way[2] or 0)  # unrated is not free: last


def _scope_of(job: WaitingJob) -> Scope:
    asked = {line.axis for way in job.alternatives for pods in way.pod_sets for line in pods.lines}
    classes = tuple(sorted(axis.class_key for axis in asked if axis.resource is Resource.DEVICE))
    return Scope(
        tuple(sorted(job.labels)),
        tuple(sorted(job.excluded_hosts)),
        host=job.host,
        drivers=job.drivers,
        classes=classes if job.drivers else (),
        runtime=job.runtime if job.drivers else "",
    )


def _paused(pool: Pool) -> Block | None:
    return None if pool.hold is None else Block(pool.hold.reason, pool.hold.facts)
