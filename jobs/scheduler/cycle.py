"""The cycle: a snapshot and rules in, one decision for every waiting job out. Pure, and the same bytes every time.

Jobs are looked at in total order (`order`). Each is admitted only with quota and a concrete list of hosts and devices
in one step, all its replicas or none. For the first of a pool that cannot start, room is kept (`reserve`); those behind
it may pass where they leave that room alone, or are surely gone in time (backfill).

Free capacity and unused quota only shrink during a pass, and kept room only grows, so that a shape which failed once
need not be tried again.
Explanations are made at the end, so that their numbers are those the pass leaves behind.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from jobs.reasons import Kind, Reason
from jobs.scheduler.block import Block, Words
from jobs.scheduler.decision import (
    Admit,
    CycleResult,
    Decision,
    Estimate,
    Expire,
    Never,
    Notice,
    Option,
    Placement,
    Preemption,
    Reserved,
    Stats,
    Wait,
    Why,
)
from jobs.scheduler.explain import Placements
from jobs.scheduler.fit import Fits
from jobs.scheduler.forecast import Window, forecast
from jobs.scheduler.grants import Grants
from jobs.scheduler.holders import Holders
from jobs.scheduler.kept import KEPT, kept_block
from jobs.scheduler.ledger import Ledger, holdings_of
from jobs.scheduler.order import Turns
from jobs.scheduler.preempt import Preempting
from jobs.scheduler.quota import QuotaBook
from jobs.scheduler.reserve import Reservation, Reserving
from jobs.scheduler.rules import Rules
from jobs.scheduler.shape import Shape, Shapes, Way, best_first
from jobs.scheduler.share import Shares
from jobs.scheduler.snapshot import Hold, Holding, Snapshot, WaitingJob
from jobs.scheduler.uncollected import uncollected
from jobs.scheduler.world import World


def cycle(snapshot: Snapshot, rules: Rules) -> CycleResult:
    """The decisions for all waiting jobs, in the order they were taken."""
    with uncollected():
        one_pass = _Pass(snapshot, rules)
        return one_pass.result(one_pass.decide())


def evaluate_one(snapshot: Snapshot, rules: Rules, job: WaitingJob) -> Decision:
    """What the next cycle would decide about `job` if it were submitted as it is, with all others ahead or behind.

    The same pass as `cycle`, explained for this job only.
    """
    with uncollected():
        one_pass = _Pass(snapshot.with_job(job), rules)
        (decision,) = one_pass.explained(one_pass.decide(), only=job.key)
    return decision


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What became of one job in the pass, before it is put into words."""

    job: WaitingJob
    shape: Shape
    admit: Admit | None = None
    held: Block | None = None
    queue: str | None = None  # the pool in whose queue it waits
    position: int | None = None


class _Pass:
    """One pass over one snapshot; used once."""

    def __init__(self, snapshot: Snapshot, rules: Rules) -> None:
        self._snapshot, self._rules = snapshot, rules
        self._words = Words(snapshot.classes)
        self._world = World.of(snapshot)
        stale = frozenset(cluster.key for cluster in snapshot.clusters if cluster.stale)
        self._before = Fits(self._world.copy(), stale)
        self._fits = Fits(self._world, stale)
        self._book = QuotaBook(snapshot, self._words)
        self._grants = Grants(snapshot, self._book, self._words)
        self._now = Ledger(self._fits, self._book, self._grants)
        self._shapes = Shapes(snapshot, self._words, self._world, self._book, self._grants)
        jobs = ((job, self._shapes.of(job)) for job in snapshot.waiting)
        shares = self._shares = Shares(snapshot, self._book, self._world)
        self._turns = Turns(jobs, shares, snapshot.at_ms, rules)
        self._reserving = Reserving(snapshot.at_ms)
        self._preempting = Preempting(snapshot, rules, shares)
        self._waiting = {job.key: job for job in snapshot.waiting}
        self._kept: dict[str, Reservation] = {}
        self._kept_by_job: dict[str, Reservation] = {}
        self._claims: dict[str, Reservation] = {}
        self._preemptions: list[Preemption] = []
        self._said_shares: dict[tuple[str, str], tuple[tuple[str, int], ...]] = {}
        self._holds = _inherited_holds(snapshot, self._book)
        self._queues: dict[str, int] = {}
        self._taken: list[Holding] = []
        self._placements = Placements(snapshot, self._words, self._fits, self._before)

    # -- deciding ------------------------------------------------------------------------------------------------

    def decide(self) -> list[_Verdict]:
        """Go through the queue once and give out what is free."""
        self._keep_claims()
        return [self._decide(job, shape) for job, shape in self._turns]

    def _decide(self, job: WaitingJob, shape: Shape) -> _Verdict:
        if shape.is_never:
            return _Verdict(job, shape)
        held = self._held(job)
        if held is not None or not shape.open_ways:
            return _Verdict(job, shape, held=held)
        # What stopped others of its shape may be the very room that is kept for this one.
        admit = self._admit(job, shape) if not shape.blocked or job.key in self._claims else None
        if admit is not None:
            return _Verdict(job, shape, admit)
        shape.blocked = True
        if not shape.spent and not self._makes_room(job, shape):
            if self._rules.reserve and job.max_wait_ms != 0:
                self._reserve(job, shape)
            # One more of this shape would fare no better, but where it has several pools and keeps room in one.
            shape.spent = len(shape.open_ways) == 1 and job.max_wait_ms != 0
        queue = shape.open_ways[0].pool.key
        position = self._queues[queue] = self._queues.get(queue, 0) + 1
        return _Verdict(job, shape, queue=queue, position=position)

    def _held(self, job: WaitingJob) -> Block | None:
        """The hold of the job itself, of its project or a team above it, or of its last failed start."""
        hold = job.hold or self._holds.get(job.tenant)
        if hold is not None:
            return Block(hold.reason, hold.facts)
        if job.not_before_ms is not None and job.not_before_ms > self._snapshot.at_ms:
            return Block(Reason.BACKED_OFF, {"t": job.not_before_ms, "i": job.attempt})
        return None

    def _admit(self, job: WaitingJob, shape: Shape) -> Admit | None:
        for way in best_first(shape, self._fits):
            besides = self._besides(job, way.pool.key)
            placed = self._now.place(shape.tenant, way.pool.key, shape.scope, way.demand, besides)
            if placed is not None:
                return self._enter(job, way, *placed, besides)
        return None

    def _besides(self, job: WaitingJob, pool: str) -> list[Ledger]:
        """The books in which a job must have room too, because something is kept for others there."""
        return [
            other.then
            for other in (*self._claims.values(), *self._kept.values())
            if other.way.pool.key == pool
            and other.job != job.key
            and not other.is_over_before(job.time_limit_ms, self._snapshot.at_ms)
        ]

    def _keep_claims(self) -> None:
        """What jobs gave back, or are giving back, for others is theirs before anybody else's turn."""
        stopping: dict[str, list[Holding]] = {}
        who = {row.job: row.stopping_for for row in self._snapshot.running if row.stopping_for is not None}
        for holding in self._snapshot.holdings:
            if holding.job in who:
                stopping.setdefault(who[holding.job], []).append(holding)
        for job in self._snapshot.waiting:
            if job.claims is not None or job.key in stopping:
                claim = self._reserving.claim(self._now, stopping.get(job.key, []), job, self._shapes.of(job))
                if claim is not None:
                    self._claims[job.key] = claim

    def _with_claims(self) -> Ledger:
        """The present with everything carried out that is under way for waiting jobs."""
        if not self._claims:
            return self._now
        then = self._now.fork()
        for key, claim in self._claims.items():
            then.release(list(claim.freed))
            job = self._waiting[key]
            shape, way = self._shapes.of(job), claim.way
            if placed := then.place(shape.tenant, way.pool.key, shape.scope, way.demand):
                then.count(holdings_of(job, way.pool.key, placed[1], None))
        return then

    def _makes_room(self, job: WaitingJob, shape: Shape) -> bool:
        """Whether others are stopped for the job: from now on, or already."""
        if not self._rules.preempt or self._preempting.is_under_way(job.key) or job.key in self._claims:
            return job.key in self._claims
        kept = [self._kept[way.pool.key].then for way in shape.open_ways if way.pool.key in self._kept]
        plan = self._preempting.plan(self._with_claims(), kept, job, shape)
        if plan is None:
            return False
        self._claims[job.key] = plan.kept
        self._preemptions.append(plan.preemption)
        return True

    def _reserve(self, job: WaitingJob, shape: Shape) -> None:
        """Keep room for a job that has to wait, in one pool where none is kept yet."""
        if any(way.pool.key not in self._kept for way in shape.open_ways):
            freed = {holding.job for claim in self._claims.values() for holding in claim.freed}
            holdings = [h for h in (*self._snapshot.holdings, *self._taken) if h.job not in freed]
            reservation = self._reserving.for_job(self._with_claims(), holdings, job, shape, self._kept)
            if reservation is not None:
                self._kept[reservation.way.pool.key] = reservation
                self._kept_by_job[job.key] = reservation

    def _over_quota(self, shape: Shape, way: Way) -> Block | None:
        too_many = self._grants.too_many(shape.tenant, way.pool.key)
        return too_many or self._book.check(shape.tenant, way.pool.key, way.demand.total)

    def _enter(
        self, job: WaitingJob, way: Way, cluster: str, placements: tuple[Placement, ...], besides: list[Ledger]
    ) -> Admit:
        pool = way.pool.key
        ends = None if job.time_limit_ms is None else self._snapshot.at_ms + job.time_limit_ms
        taken = holdings_of(job, pool, placements, ends)
        for ledger in (self._now, *besides):
            ledger.count(taken)
        self._claims.pop(job.key, None)
        self._taken += taken
        self._turns.charged(job.tenant, pool)
        price = way.price_micro_per_hour
        return Admit(job.key, job.attempt, pool, cluster, way.alternative, placements, price)

    # -- explaining ----------------------------------------------------------------------------------------------

    def result(self, verdicts: list[_Verdict]) -> CycleResult:
        """All decisions with their reasons, and what the pass did in numbers."""
        decisions = tuple(self.explained(verdicts))
        stats = Stats(
            waiting=len(decisions),
            admitted=sum(isinstance(decision, Admit) for decision in decisions),
            never=sum(isinstance(decision, Never) for decision in decisions),
            expired=sum(isinstance(decision, Expire) for decision in decisions),
            shapes=len(self._shapes),
            stopped=sum(len(preemption.victims) for preemption in self._preemptions),
        )
        return CycleResult(decisions, stats, tuple(_notices(self._snapshot)), tuple(self._preemptions))

    def explained(self, verdicts: list[_Verdict], only: str | None = None) -> list[Decision]:
        """The verdicts as decisions. Uses the pass up: the forecast gives back all that is held."""
        chosen = [verdict for verdict in verdicts if only is None or verdict.job.key == only]
        shapes = {verdict.shape: None for verdict in chosen if verdict.admit is None}
        holders = Holders((*self._snapshot.holdings, *self._taken), self._book)
        whys = {shape: self._why(shape, holders) for shape in shapes}
        windows = self._windows([shape for shape in shapes if shape.blocked])
        return [self._decision(verdict, whys, windows) for verdict in chosen]

    def _decision(self, verdict: _Verdict, whys: dict[Shape, Why], windows: dict[Shape, Window]) -> Decision:
        job, shape = verdict.job, verdict.shape
        if verdict.admit is not None:
            return verdict.admit
        why = whys[shape]
        if shape.is_never:
            return Never(job.key, job.attempt, why)
        if verdict.held is not None:
            why = Why(verdict.held.reason, verdict.held.facts, options=why.options)
        if job.max_wait_ms is not None and self._snapshot.at_ms - job.submitted_ms >= job.max_wait_ms:
            ended = Why(Reason.MAX_WAIT, {"limit": job.max_wait_ms})
            return Expire(job.key, job.attempt, ended, blocked_by=why)
        price = shape.ways[0].price_micro_per_hour if shape.ways else None
        why = self._room_is_made(job, why)
        if verdict.queue is None:
            return Wait(job.key, job.attempt, why, None, None, None, price)
        total = self._queues[verdict.queue]
        estimate = _estimate(windows.get(shape), verdict.position)
        return Wait(job.key, job.attempt, why, verdict.position, total, estimate, price, self._reserved(job))

    def _why(self, shape: Shape, holders: Holders) -> Why:
        """The reason of the first way that may start; failing that of the first held one; else of the first."""
        if shape.nothing is not None:
            return Why(shape.nothing.reason, shape.nothing.facts)
        blocks = [(way, way.block or self._block(shape, way)) for way in shape.ways]
        way, block = min(blocks, key=lambda pair: _permanence(pair[0]))
        options = tuple(Option(w.pool.key, w.alternative, b.reason, b.facts) for w, b in blocks)
        held_by = holders.of(way.pool.key, block) if way.block is None else ()
        kept_for = self._kept[way.pool.key].job if block.reason in KEPT else ""
        shares = self._shares_of(shape.tenant, way.pool.key) if way.block is None else ()
        return Why(block.reason, block.facts, way.pool.key, way.alternative, options, held_by, kept_for, shares)

    def _shares_of(self, tenant: str, pool: str) -> tuple[tuple[str, int], ...]:
        known = self._said_shares.get((tenant, pool))
        if known is None:
            path = self._book.path(tenant)[:-1]
            known = tuple((self._book.name(above), self._shares.share(self._book, above, pool)) for above in path)
            self._said_shares[tenant, pool] = known
        return known

    def _room_is_made(self, job: WaitingJob, why: Why) -> Why:
        """That others stop for it says more than what they still hold."""
        claim = self._claims.get(job.key)
        count = self._stopping_for(job.key) if claim else 0
        if claim is None or not count:
            return why
        return replace(why, reason=Reason.MAKING_ROOM, facts={"pool": claim.way.pool.name, "count": count})

    def _stopping_for(self, job: str) -> int:
        planned = sum(len(preemption.victims) for preemption in self._preemptions if preemption.job == job)
        return planned + sum(row.stopping_for == job for row in self._snapshot.running)

    def _block(self, shape: Shape, way: Way) -> Block:
        kept = self._kept.get(way.pool.key)
        if kept is not None and self._now.could_start(shape.tenant, way.pool.key, shape.scope, way.demand):
            return kept_block(kept, self._words, shape.time_limit_ms, self._snapshot.at_ms)
        over = self._over_quota(shape, way)
        return over or self._placements.why_not(way.demand, way.pool, shape.scope)

    def _reserved(self, job: WaitingJob) -> Reserved | None:
        kept = self._kept_by_job.get(job.key)
        if kept is None:
            return None
        hosts = tuple(sorted({placement.host for placement in kept.placements}))
        return Reserved(kept.way.pool.key, kept.cluster, hosts, kept.at_ms)

    def _windows(self, blocked: list[Shape]) -> dict[Shape, Window]:
        if not self._rules.forecast_steps:
            return {}
        holdings = (*self._snapshot.holdings, *self._taken)
        steps = self._rules.forecast_steps
        return forecast(self._now, holdings, blocked, self._could_start, self._snapshot.at_ms, steps)

    def _could_start(self, shape: Shape) -> bool:
        return any(
            self._now.could_start(shape.tenant, way.pool.key, shape.scope, way.demand) for way in shape.open_ways
        )


def _inherited_holds(snapshot: Snapshot, book: QuotaBook) -> dict[str, Hold]:
    """The hold of every tenant that has one, its own or the nearest above."""
    own = {tenant.key: tenant.hold for tenant in snapshot.tenants if tenant.hold is not None}
    paths = ((tenant.key, book.path(tenant.key)) for tenant in snapshot.tenants) if own else ()
    return {tenant: next(own[above] for above in path if above in own) for tenant, path in paths if own.keys() & path}


def _permanence(way: Way) -> int:
    """0 for a way that only waits, 1 for a held one, 2 for one that never can be, 3 where there is no such class."""
    if way.block is None:
        return 0
    if way.block.reason is Reason.NO_HOST_OF_CLASS:
        return 3  # of several pools the one that has the class says more
    return 2 if way.block.reason.kind is Kind.NEVER else 1


def _estimate(window: Window | None, position: int | None) -> Estimate | None:
    if window is None:
        return None
    return Estimate(window.earliest_ms, window.surely_ms if position == 1 else None)


def _notices(snapshot: Snapshot) -> list[Notice]:
    """Quota cells that name a class or pool nobody knows: shown to administrators, never a crash."""
    classes = {kind.key for kind in snapshot.classes}
    pools = {pool.key for pool in snapshot.pools}
    notices = []
    for cell in snapshot.cells:
        facts = {"tenant": cell.tenant, "pool": cell.pool, "class_key": cell.axis.class_key}
        if cell.axis.class_key not in classes:
            notices.append(Notice(Reason.CLASS_NOT_FOUND, facts))
        if cell.pool not in pools:
            notices.append(Notice(Reason.POOL_NOT_FOUND, facts))
    return notices
