"""A replay: arrivals and ends move a virtual clock, and between them decides the same `cycle` that runs the portal.

Pure and deterministic: the same jobs, fleet and rules give the same runs. A job that is stopped for another goes on
from what it had saved; one that reaches its limit ends there. Nothing is imagined beyond what was recorded: starting
and giving back take no time, and no node fails.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from jobs.scheduler.cycle import cycle
from jobs.scheduler.decision import Admit, CycleResult, Expire, Never
from jobs.scheduler.rules import Rules
from jobs.scheduler.snapshot import Alternative, Holding, PriorityClass, Running, Snapshot, WaitingJob
from jobs.states import AllocationState

PER_MILLE = 1_000
_ARRIVES, _ENDS = 0, 1


class Cancelled(Exception):
    """The replay was told to stop."""


@dataclass(frozen=True, slots=True)
class PastJob:
    """A job as it was recorded. Times and spans in milliseconds.

    `duration_ms` is on a class of speed 1,000 per mille; `speeds` has others by alternative. `checkpoint_ms`: how often
    it saves how far it came (None: never). `pools` and `alternatives` are in order of preference.
    """

    key: str
    tenant: str
    submit_ms: int
    duration_ms: int
    pools: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    limit_ms: int | None = None
    max_wait_ms: int | None = None
    priority_class: PriorityClass = PriorityClass.STANDARD
    priority: int = 0
    preemptible: bool = False
    checkpoint_ms: int | None = None
    speeds: tuple[tuple[str, int], ...] = ()

    def speed(self, alternative: str) -> int:
        """Per mille of the speed that `duration_ms` was told for."""
        return dict(self.speeds).get(alternative, PER_MILLE)


@dataclass(slots=True)
class Run:
    """What became of a job. `waited_ms` until its first start, None when it never started."""

    job: PastJob
    waited_ms: int | None = None
    ended_ms: int | None = None
    refused: str = ""
    stops: int = 0
    lost_ms: int = 0  # work done again because it was stopped, summed over stops
    done_ms: int = 0  # of its duration
    held_ms: int = 0  # from start to end, summed over its runs


@dataclass(slots=True)
class _Under:
    """A job that runs."""

    run: Run
    began_ms: int
    speed: int
    number: int
    holdings: tuple[Holding, ...]


@dataclass
class Simulation:
    """One replay; used once. `base` holds the fleet, tenants and rules of quota, and nothing that waits or runs.

    `every_ms`: passes are at least so far apart; 0 is one whenever something happened. `tell` hears how many jobs are
    over and may raise `Cancelled`.
    """

    base: Snapshot
    rules: Rules
    jobs: Iterable[PastJob]
    every_ms: int = 0
    tell: Callable[[int], None] = lambda done: None
    runs: dict[str, Run] = field(default_factory=dict)
    passes: int = 0
    stopped: int = 0

    def __post_init__(self) -> None:
        """Nothing has happened yet."""
        self._events: list[tuple[int, int, str, int]] = []
        self._waiting: dict[str, WaitingJob] = {}
        self._under: dict[str, _Under] = {}
        self._ways: dict[tuple[Alternative, ...], tuple[Alternative, ...]] = {}
        self._over = 0
        for job in self.jobs:
            self.runs[job.key] = Run(job)
            heapq.heappush(self._events, (job.submit_ms, _ARRIVES, job.key, 0))

    def run(self, until_ms: int | None = None) -> dict[str, Run]:
        """Replay to the end, or to an instant; the runs by job."""
        due: int | None = None
        while self._events or due is not None:
            now = self._events[0][0] if self._events else due
            if due is not None and (not self._events or due < self._events[0][0]):
                now = due
            assert now is not None
            if until_ms is not None and now > until_ms:
                break
            happened = self._happen(now)
            if happened and due is None:
                due = now if not self.every_ms else -(-now // self.every_ms) * self.every_ms
            if due is not None and due <= now:
                due = None
                self._pass(now)
        return self.runs

    def _happen(self, now: int) -> bool:
        """Everything of this instant. Whether anything that a pass would see has changed."""
        changed = False
        while self._events and self._events[0][0] == now:
            _, kind, key, number = heapq.heappop(self._events)
            if kind == _ARRIVES:
                self._waiting[key] = self._waiting_job(self.runs[key].job)
                changed = True
            elif key in self._under and self._under[key].number == number:
                self._end(key, now)
                changed = True
        return changed and bool(self._waiting)

    def _waiting_job(self, job: PastJob) -> WaitingJob:
        return WaitingJob(
            key=job.key,
            tenant=job.tenant,
            pools=job.pools,
            alternatives=self._ways.setdefault(job.alternatives, job.alternatives),
            submitted_ms=job.submit_ms,
            priority_class=job.priority_class,
            priority=job.priority,
            time_limit_ms=job.limit_ms,
            max_wait_ms=job.max_wait_ms,
        )

    def _pass(self, now: int) -> None:
        if not self._waiting:
            return
        self.passes += 1
        result = cycle(self._snapshot(now), self.rules)
        for decision in result.decisions:
            if isinstance(decision, Admit):
                self._start(decision, now)
            elif isinstance(decision, Never | Expire):
                del self._waiting[decision.job]
                self.runs[decision.job].refused = decision.why.reason.value
                self._is_over()
        if self._carry_out(result, now):
            self._pass(now)

    def _snapshot(self, now: int) -> Snapshot:
        holdings = tuple(holding for under in self._under.values() for holding in under.holdings)
        running = tuple(self._running(key, under, now) for key, under in self._under.items())
        clusters = tuple(replace(cluster, observed_ms=now) for cluster in self.base.clusters)
        return replace(
            self.base,
            at_ms=now,
            clusters=clusters,
            waiting=tuple(self._waiting.values()),
            holdings=holdings,
            running=running,
        )

    def _running(self, key: str, under: _Under, now: int) -> Running:
        job = under.run.job
        every = job.checkpoint_ms
        saved = None if every is None else under.began_ms + (now - under.began_ms) // every * every
        return Running(
            key, job.priority_class, job.priority, job.preemptible, under.began_ms, saved, preempted=under.run.stops
        )

    def _start(self, decision: Admit, now: int) -> None:
        run, waiting = self.runs[decision.job], self._waiting.pop(decision.job)
        job, speed = run.job, run.job.speed(decision.alternative)
        if run.waited_ms is None:
            run.waited_ms = now - job.submit_ms
        lasts = -(-(job.duration_ms - run.done_ms) * PER_MILLE // speed)
        ends = None if job.limit_ms is None else now + job.limit_ms
        number = run.stops
        holdings = tuple(
            Holding(
                allocation=f"{job.key}/{number}/{index}",
                job=job.key,
                tenant=waiting.tenant,
                pool=decision.pool,
                host=placement.host,
                state=AllocationState.BOUND,
                lines=placement.lines,
                devices=placement.devices,
                ends_ms=ends,
            )
            for index, placement in enumerate(decision.placements)
        )
        self._under[job.key] = _Under(run, now, speed, number, holdings)
        end = now + (lasts if job.limit_ms is None else min(lasts, job.limit_ms))
        heapq.heappush(self._events, (end, _ENDS, job.key, number))

    def _end(self, key: str, now: int) -> None:
        under = self._under.pop(key)
        run = under.run
        run.done_ms = min(run.job.duration_ms, run.done_ms + (now - under.began_ms) * under.speed // PER_MILLE)
        run.held_ms += now - under.began_ms
        run.ended_ms = now
        self._is_over()

    def _carry_out(self, result: CycleResult, now: int) -> bool:
        """Stop whom the pass stopped: they wait again, and what they gave back is kept for whom it was done."""
        for preemption in result.preemptions:
            for key in preemption.victims:
                under = self._under.pop(key)
                run, job, ran = under.run, under.run.job, now - under.began_ms
                kept = 0 if job.checkpoint_ms is None else ran // job.checkpoint_ms * job.checkpoint_ms
                run.done_ms += kept * under.speed // PER_MILLE
                run.lost_ms += ran - kept
                run.held_ms += ran
                run.stops += 1
                self.stopped += 1
                self._waiting[key] = self._waiting_job(job)
            claimant = self._waiting[preemption.job]
            self._waiting[preemption.job] = replace(claimant, claims=preemption.pool)
        return bool(result.preemptions)

    def _is_over(self) -> None:
        self._over += 1
        self.tell(self._over)
