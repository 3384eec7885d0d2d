"""Leave to use a pool: which grant counts for a project now, and the bounds it puts on one job."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from jobs.reasons import Reason
from jobs.scheduler.block import Block, Words
from jobs.scheduler.demand import Demand
from jobs.scheduler.quota import QuotaBook
from jobs.scheduler.snapshot import Axis, Grant, Holding, Pool, Resource, Snapshot, WaitingJob
from jobs.states import HOLDS_QUOTA


class Grants:
    """The grants of one snapshot, and how many jobs each tenant has in each pool (kept current by `count`)."""

    def __init__(self, snapshot: Snapshot, book: QuotaBook, words: Words) -> None:
        self._at = snapshot.at_ms
        self._book = book
        self._words = words
        self._pools = {pool.key: pool for pool in snapshot.pools}
        self._by_place: defaultdict[tuple[str, str], list[Grant]] = defaultdict(list)
        for grant in snapshot.grants:
            self._by_place[grant.tenant, grant.pool].append(grant)
        self._jobs: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for holding in snapshot.holdings:
            self.count(holding)

    def fork(self, book: QuotaBook) -> Grants:
        """An independent count that begins as this one is, beside another book of the same tenants."""
        twin = Grants.__new__(Grants)
        twin.__dict__.update(self.__dict__)
        twin._book = book
        twin._jobs = defaultdict(Counter, {key: jobs.copy() for key, jobs in self._jobs.items()})
        return twin

    def count(self, holding: Holding, sign: int = 1) -> None:
        """Count a job as present while any of its holdings is, for its tenant and all above (-1: no longer)."""
        if holding.state not in HOLDS_QUOTA:
            return
        for node in self._book.path(holding.tenant):
            jobs = self._jobs[node, holding.pool]
            jobs[holding.job] += sign
            if not jobs[holding.job]:
                del jobs[holding.job]

    def valid(self, tenant: str, pool: str) -> Grant | None:
        """The grant that counts now: the nearest valid one on the way to the root."""
        return next((g for g in self._of_path(tenant, pool) if self._is_valid(g)), None)

    def missing(self, tenant: str, pool: Pool) -> Block | None:
        """Why the pool may not be used now, if it may not."""
        if self.valid(tenant, pool.key) is not None:
            return None
        facts = {"pool": pool.name, "project": self._book.name(tenant)}
        starts = [g.starts_ms for g in self._of_path(tenant, pool.key) if g.starts_ms > self._at]
        if starts:
            return Block(Reason.GRANT_NOT_STARTED, {**facts, "t": min(starts)})
        granted = tuple(other.name for key, other in self._pools.items() if self.valid(tenant, key))
        return Block(Reason.POOL_NOT_GRANTED, {**facts, "list": granted})

    def out_of_bounds(self, job: WaitingJob, pool: Pool, demand: Demand) -> Block | None:
        """Which bound of the grant the job can never keep, if any; nothing without a valid grant."""
        grant = self.valid(job.tenant, pool.key)
        if grant is None:
            return None
        facts = {"pool": pool.name, "project": self._book.name(job.tenant)}
        return (
            _above_class(grant, job, facts) or _above_limit(grant, job, facts) or self._above_size(grant, demand, facts)
        )

    def too_many(self, tenant: str, pool: str) -> Block | None:
        """Whether as many jobs run at once as the grant allows."""
        grant = self.valid(tenant, pool)
        if grant is None or grant.most_at_once is None:
            return None
        running = len(self._jobs[grant.tenant, pool])
        if running < grant.most_at_once:
            return None
        facts = {"project": self._book.name(grant.tenant), "running": running, "most": grant.most_at_once}
        return Block(
            Reason.TOO_MANY_AT_ONCE,
            {**facts, "need": 1, "have": 0, "short_by": running + 1 - grant.most_at_once},
            tenant=grant.tenant,
        )

    def _of_path(self, tenant: str, pool: str) -> Iterator[Grant]:
        for node in self._book.path(tenant):
            yield from self._by_place.get((node, pool), ())

    def _is_valid(self, grant: Grant) -> bool:
        return grant.starts_ms <= self._at and (grant.ends_ms is None or self._at < grant.ends_ms)

    def _above_size(self, grant: Grant, demand: Demand, facts: dict[str, str]) -> Block | None:
        for resource, most in grant.largest_job:
            need = demand.of_resource(resource)
            if need > most:
                axis = _axis_of(demand, resource)
                return Block(
                    Reason.ABOVE_LARGEST_JOB,
                    {**facts, **self._words.shortage(axis, need, most, max=most)},
                    axis,
                )
        return None


def _axis_of(demand: Demand, resource: Resource) -> Axis:
    """The axis whose unit a sum over classes is shown in."""
    return next(axis for axis, _ in demand.total if axis.resource is resource)


def _above_class(grant: Grant, job: WaitingJob, facts: dict[str, str]) -> Block | None:
    highest = grant.priority_ceiling
    if highest is None or job.priority_class.rank >= highest.rank:
        return None
    return Block(
        Reason.ABOVE_PRIORITY_CEILING,
        {**facts, "asked": job.priority_class.value, "highest": highest.value},
    )


def _above_limit(grant: Grant, job: WaitingJob, facts: dict[str, str]) -> Block | None:
    longest = grant.longest_limit_ms
    if longest is None:
        return None
    if job.time_limit_ms is None:
        return Block(Reason.TIME_LIMIT_MISSING, {**facts, "longest": longest})
    if job.time_limit_ms > longest:
        return Block(Reason.ABOVE_LONGEST_LIMIT, {**facts, "limit": job.time_limit_ms, "longest": longest})
    return None
