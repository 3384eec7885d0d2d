"""Whom to stop so that a waiting job can start: the fewest and cheapest on a concrete list of hosts, or nobody.

Hosts first: on each host as few of the cheapest as make room for replicas, then the cheapest hosts; then whatever
quota still asks for. What turns out not to be needed is left alone, the dearest first, and every rule is checked
again on those that remain, one after the other.

No two jobs stop each other for ever: who takes back stays within what is its own and only takes from who holds more;
a lower priority never stops a higher one; and where shares decide, the larger of the two only shrinks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from jobs.scheduler.decision import Preemption
from jobs.scheduler.demand import Part
from jobs.scheduler.ledger import Ledger, holdings_of
from jobs.scheduler.reserve import Reservation
from jobs.scheduler.rules import Rules
from jobs.scheduler.shape import Shape, Way
from jobs.scheduler.share import Shares
from jobs.scheduler.snapshot import Holding, PriorityClass, Snapshot, WaitingJob
from jobs.scheduler.victims import Candidates, Claimant, Victim
from jobs.scheduler.world import Site


@dataclass(frozen=True, slots=True)
class Plan:
    """Who is stopped, and the room that is kept for whom it is done for."""

    preemption: Preemption
    kept: Reservation


class Preempting:
    """Makes the plans of one pass; who is to be stopped by one is not counted on by the next."""

    def __init__(self, snapshot: Snapshot, rules: Rules, shares: Shares) -> None:
        self._candidates = Candidates(snapshot, rules, shares)
        self._in_flight = {row.stopping_for for row in snapshot.running if row.stopping_for is not None}
        self._hopeless: set[Shape] = set()

    def is_under_way(self, job: str) -> bool:
        """Whether somebody is being stopped for the job already."""
        return job in self._in_flight

    def plan(self, now: Ledger, besides: Sequence[Ledger], job: WaitingJob, shape: Shape) -> Plan | None:
        """Whom to stop for a job that cannot start; None where nobody may be, or it would not help.

        `now`: the books with all that is under way for others carried out.
        """
        if job.priority_class is PriorityClass.BEST_EFFORT or shape in self._hopeless or self.is_under_way(job.key):
            return None
        for way in shape.open_ways:
            if not self._candidates.any_in(way.pool.key):
                continue
            for claimant in self._candidates.claims(now.book, job, way):
                plan = self._by_rule(now, besides, shape, claimant)
                if plan is not None:
                    self._in_flight.add(job.key)
                    self._candidates.stopping.update(plan.preemption.victims)
                    return plan
        self._hopeless.add(shape)
        return None

    def _by_rule(self, now: Ledger, besides: Sequence[Ledger], shape: Shape, claimant: Claimant) -> Plan | None:
        victims = self._candidates.of(now.book, claimant)
        if not victims:
            return None
        search = _Search(now, besides, shape, claimant.way, victims)
        chosen = search.run()
        if not chosen or not self._candidates.all_may_stop(now.book.fork(), claimant, chosen):
            return None
        return search.plan(claimant, chosen)


class _Search:
    """Chooses victims for one way to run one job, on copies of the books."""

    def __init__(
        self, now: Ledger, besides: Sequence[Ledger], shape: Shape, way: Way, victims: Sequence[Victim]
    ) -> None:
        self._shape, self._way, self._victims = shape, way, victims
        self._then = now.fork()
        self._besides = tuple(ledger.fork() for ledger in besides)
        self._out: dict[str, Victim] = {}

    def run(self) -> list[Victim]:
        """Those to stop, the cheapest first; none where it would not help."""
        self._stop(self._by_hosts())
        for victim in self._victims:  # what quota, or several pod sets together, still ask for
            if self._could_start():
                break
            self._stop([victim])
        if not self._could_start():
            return []
        for victim in sorted(self._out.values(), key=lambda victim: victim.cost, reverse=True):
            self._spare(victim)
            if not self._could_start():
                self._stop([victim])
        return sorted(self._out.values(), key=lambda victim: victim.cost)

    def plan(self, claimant: Claimant, victims: Sequence[Victim]) -> Plan | None:
        """The plan that stops these, with the room it keeps."""
        job, way = claimant.job, self._way
        placed = self._then.place(self._shape.tenant, way.pool.key, self._shape.scope, way.demand, self._besides)
        if placed is None:
            return None
        cluster, placements = placed
        self._then.count(holdings_of(job, way.pool.key, placements, None))
        hosts = tuple(sorted({placement.host for placement in placements}))
        preemption = Preemption(
            job.key, job.attempt, way.pool.key, cluster, claimant.rule.value, claimant.within,
            tuple(victim.job for victim in victims), hosts,
        )  # fmt: skip
        freed = tuple(holding for victim in victims for holding in victim.holdings)
        return Plan(preemption, Reservation(job.key, way, cluster, placements, None, self._then, freed))

    def _could_start(self) -> bool:
        args = (self._shape.tenant, self._way.pool.key, self._shape.scope, self._way.demand)
        return all(ledger.could_start(*args) for ledger in (self._then, *self._besides))

    def _stop(self, victims: Sequence[Victim]) -> None:
        for victim in victims:
            if victim.job not in self._out:
                self._out[victim.job] = victim
                for ledger in (self._then, *self._besides):
                    ledger.release(list(victim.holdings))

    def _spare(self, victim: Victim) -> None:
        del self._out[victim.job]
        for ledger in (self._then, *self._besides):
            ledger.hold(list(victim.holdings))

    def _by_hosts(self) -> list[Victim]:
        """Those who stand in the way on the cheapest hosts of the site where that is fewest."""
        if not self._then.fits.world.sites.get(self._way.pool.key):
            return []
        found = [self._in_site(site) for site in self._then.fits.world.sites[self._way.pool.key]]
        enough = [victims for victims in found if victims is not None]
        return min(enough, key=len, default=[])

    def _in_site(self, site: Site) -> list[Victim] | None:
        chosen: dict[str, Victim] = {}
        by_row = self._by_row(site)
        for part in self._way.demand.parts:
            taken = self._for_part(site, part, by_row)
            if taken is None:
                return None
            chosen |= {victim.job: victim for victim in taken}
        return list(chosen.values())

    def _by_row(self, site: Site) -> dict[int, list[Victim]]:
        rows: defaultdict[int, list[Victim]] = defaultdict(list)
        for victim in self._victims:
            for host in dict.fromkeys(holding.host for holding in victim.holdings):
                row = self._then.fits.world.row.get(host)
                if row is not None and site.start <= row < site.stop:
                    rows[row].append(victim)
        return rows

    def _for_part(self, site: Site, part: Part, by_row: dict[int, list[Victim]]) -> list[Victim] | None:
        """The cheapest way to room for all replicas of a part, host by host."""
        free = self._then.fits.room(site, self._shape.scope, part.lines)
        missing = part.replicas - int(free.sum())
        if missing <= 0:
            return []
        mask = self._then.fits.mask(site, self._shape.scope)
        offers = [
            offer
            for row, victims in sorted(by_row.items())
            if mask[row - site.start] and (offer := self._offer(row, part, victims, int(free[row - site.start])))
        ]
        chosen: list[Victim] = []
        for _, gained, victims in sorted(offers, key=lambda offer: offer[0]):
            if missing <= 0:
                break
            chosen += victims
            missing -= gained
        return chosen if missing <= 0 else None

    def _offer(
        self, row: int, part: Part, victims: Sequence[Victim], free: int
    ) -> tuple[tuple[int, ...], int, list[Victim]] | None:
        """The cheapest first of a host until it has room for one replica more: price, replicas gained, who."""
        world = self._then.fits.world
        here = [[h for h in victim.holdings if world.row.get(h.host) == row] for victim in victims]
        freed: list[Holding] = []
        offer = None
        for number, holdings in enumerate(here, start=1):
            world.enter(holdings, 1)
            freed += holdings
            gained = int(world.room(slice(row, row + 1), part.lines)[0]) - free
            if gained > 0:
                taken = list(victims[:number])
                worst, lost = max(v.cost[:3] for v in taken), sum(v.cost[3] for v in taken)
                offer = ((*worst, number * 1000 // gained, lost), gained, taken)
                break
        world.enter(freed, -1)
        return offer
