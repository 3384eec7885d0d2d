"""The three books in which everything held is entered: room on hosts, quota of tenants, jobs at once.

A pass keeps one for the present; a reservation keeps a second for the instant at which its job may start.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jobs.scheduler.decision import Placement
from jobs.scheduler.demand import Demand
from jobs.scheduler.fit import Fits, Scope
from jobs.scheduler.grants import Grants
from jobs.scheduler.quota import QuotaBook
from jobs.scheduler.snapshot import Holding, WaitingJob
from jobs.states import HOLDS_QUOTA, AllocationState


class Ledger:
    """Room, quota and counts that always speak of the same instant."""

    __slots__ = ("book", "fits", "grants")

    def __init__(self, fits: Fits, book: QuotaBook, grants: Grants) -> None:
        self.fits, self.book, self.grants = fits, book, grants

    def fork(self) -> Ledger:
        """An independent ledger that begins as this one is."""
        book = self.book.fork()
        return Ledger(self.fits.fork(), book, self.grants.fork(book))

    def allows(self, tenant: str, pool: str, demand: Demand) -> bool:
        """Whether quota and the bound on jobs at once leave room for one more such job."""
        return self.grants.too_many(tenant, pool) is None and self.book.allows(tenant, pool, demand.total)

    def could_start(self, tenant: str, pool: str, scope: Scope, demand: Demand) -> bool:
        """Whether such a job could start in the pool; the ledger is left as it was."""
        sites = self.fits.world.sites.get(pool, ())
        return self.allows(tenant, pool, demand) and any(self.fits.fits(site, scope, demand) for site in sites)

    def place(
        self, tenant: str, pool: str, scope: Scope, demand: Demand, besides: Sequence[Ledger] = ()
    ) -> tuple[str, tuple[Placement, ...]] | None:
        """Cluster and hosts for such a job, and the room taken; quota is for the caller to charge (`count`).

        `besides`: ledgers that must have room and quota for it as well; room is taken there too.
        """
        if not all(ledger.allows(tenant, pool, demand) for ledger in (self, *besides)):
            return None
        fits = tuple(ledger.fits for ledger in besides)
        for site in self.fits.world.sites.get(pool, ()):
            placements = self.fits.place(site, scope, demand, fits)
            if placements is not None:
                return site.cluster, placements
        return None

    def count(self, holdings: Iterable[Holding], sign: int = 1) -> None:
        """Enter what these hold of quota and of jobs at once (-1: strike it out); not their room."""
        for holding in holdings:
            if holding.state in HOLDS_QUOTA:
                self.book.charge(holding.tenant, holding.pool, holding.lines, sign)
            self.grants.count(holding, sign)

    def release(self, holdings: list[Holding]) -> None:
        """Strike holdings out of all books."""
        self.fits.world.enter(holdings, 1)
        self.count(holdings, -1)

    def hold(self, holdings: list[Holding]) -> None:
        """Enter holdings in all books: the opposite of `release`."""
        self.fits.world.enter(holdings, -1)
        self.count(holdings, 1)


def holdings_of(job: WaitingJob, pool: str, placements: Iterable[Placement], ends_ms: int | None) -> list[Holding]:
    """What a job that was placed holds, replica by replica."""
    return [
        Holding(
            allocation=f"{job.key}/{index}",
            job=job.key,
            tenant=job.tenant,
            pool=pool,
            host=placement.host,
            state=AllocationState.RESERVED,
            lines=placement.lines,
            devices=placement.devices,
            ends_ms=ends_ms,
        )
        for index, placement in enumerate(placements)
    ]
