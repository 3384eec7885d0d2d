"""A past that is replayed: the scheduler's own cycle and reconcile on a clock that jumps from event to event.

Everything is decided by the code that decides in service (`scheduler.cycle`, `reconcile.decide`, the simulated
driver) and put into the rows it would make (`jobs.rows`). They stay unsaved until all is over, because replaying
weeks through the database would take longer than anybody waits for a first page.
"""

import heapq
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from jobs.keeping import kept_logs
from jobs.models import Job, ReleaseRecord
from jobs.reasons import Reason
from jobs.reconcile import READY_TIMEOUT, Action, Apply, End, Missing, Progress, Stop, decide
from jobs.rows import (
    DeviceNames,
    Step,
    attempt_row,
    facts_of_step,
    held_rows,
    held_sums,
    released_facts,
    running_facts,
    view_of,
    way_to_end,
    write_levels,
    write_times,
)
from jobs.scheduler.cycle import cycle
from jobs.scheduler.decision import Admit, Decision, Expire, Never
from jobs.scheduler.rules import Rules
from jobs.scheduler.snapshot import Holding, Snapshot
from jobs.selectors.explanations import facts_of, material
from jobs.selectors.reach import Reach
from jobs.selectors.snapshot import waiting_job
from jobs.selectors.workload import workload_of
from jobs.services.prove_release import LEAKED_AFTER
from jobs.services.run_cycle import CURRENCY
from jobs.states import FINAL, AllocationState, JobState
from portal.lib.clock import to_ms
from portal.web.demo.past import Live, Past, holdings_of, move_allocation
from resources.drivers.base import DriverError, SeenWorkload, WorkloadRejected
from resources.drivers.simulated.driver import SimulatedDriver
from resources.models import Cluster, Node

_WITHOUT_FORECAST = Rules(forecast_steps=0)
"""When a job may start is no event, and only what is said last is ever read."""
_PASS = timedelta(seconds=1)
"""How long after something happened on a cluster the next look at it comes."""
_AGAIN = timedelta(seconds=5)
_MUCH_LATER = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A job that somebody submits, and maybe cancels a while later."""

    job: Job
    cancelled_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Site:
    """A cluster and the driver behind it."""

    cluster: Cluster
    driver: SimulatedDriver


@dataclass
class Replay:
    """One replay from `base`, which holds the facts of the beginning; used once."""

    base: Snapshot
    reach: Reach
    sites: Mapping[str, Site]
    nodes: Mapping[str, Node]
    devices: DeviceNames
    set_clock: Callable[[datetime], None]
    tell: Callable[[int], None] = lambda done: None
    past: Past = field(default_factory=Past)

    def __post_init__(self) -> None:
        """Nothing has happened yet."""
        self._queue: list[tuple[datetime, int, Callable[[datetime], None]]] = []
        self._serial = itertools.count()
        self._waiting: dict[str, Live] = {}
        self._open: dict[str, Live] = {}
        self._dirty = False

    def run(self, arrivals: Iterable[Arrival], until: datetime) -> Past:
        """Everything that happens before `until`; what is under way then stays so."""
        for arrival in arrivals:
            self._at(arrival.job.submitted_at, self._submission(arrival))
        while self._queue and self._queue[0][0] < until:
            now = self._queue[0][0]
            self.set_clock(now)
            while self._queue and self._queue[0][0] == now:
                heapq.heappop(self._queue)[2](now)
            if self._dirty and self._waiting:
                self._cycle(now, _WITHOUT_FORECAST)
            self._dirty = False
        self.set_clock(until)
        self._cycle(until, Rules())
        return self.past

    def change(self, at: datetime, edit: Callable[[Snapshot], Snapshot]) -> None:
        """Let the rules or the fleet be others from then on."""

        def apply(_now: datetime) -> None:
            self.base = edit(self.base)
            self._dirty = True

        self._at(at, apply)

    def change_rules(self, at: datetime, rules: Mapping[str, tuple[Sequence[str], Sequence[str]]]) -> None:
        """Let the pools take these task types and runtimes only from then on, and every other pool all."""

        def apply(_now: datetime) -> None:
            self.reach = replace(self.reach, rules_of_pool=rules)
            self._dirty = True

        self._at(at, apply)

    # -- submit and cancel -------------------------------------------------------------------------------------------

    def _submission(self, arrival: Arrival) -> Callable[[datetime], None]:
        def submit(now: datetime) -> None:
            job = arrival.job
            live = Live(job)
            self.past.jobs.append(job)
            self._waiting[str(job.pk)] = live
            self.past.event(job, now, kind="state", new=job.state, reason=Reason.SUBMITTED, actor=job.submitter)
            self._dirty = True
            if arrival.cancelled_at is not None:
                self._at(arrival.cancelled_at, lambda at: self._cancel(live, at))
            self.tell(len(self.past.jobs))

        return submit

    def _cancel(self, live: Live, now: datetime) -> None:
        job, facts = live.job, {"who": str(live.job.submitter)}
        if JobState(job.state) in FINAL or job.state == JobState.STOPPING or job not in self.past.jobs:
            return
        if job.state == JobState.ADMITTED:
            self._at(now + _AGAIN, lambda at: self._cancel(live, at))
            return
        self.past.cancelled.append((job, now))
        if live.attempt is None:
            self._waiting.pop(str(job.pk), None)
            self.past.move(live, JobState.CANCELLED, Reason.CANCELLED_BY_USER, now, facts=facts, actor=job.submitter)
            job.archived_at, job.archive_note = now, "NothingToKeep"
            return
        self.past.move(
            live,
            JobState.STOPPING,
            Reason.CANCELLED_BY_USER,
            now,
            facts=facts,
            actor=job.submitter,
            stop_to=JobState.CANCELLED.value,
        )
        live.attempt.stop_asked_at = now
        self._at(now + _PASS, lambda at: self._look(live, at))

    # -- the cycle -----------------------------------------------------------------------------------------------------

    def _cycle(self, now: datetime, rules: Rules) -> None:
        waiting = tuple(waiting_job(live.job, self.reach, now) for live in self._waiting.values())
        clusters = tuple(replace(c, observed_ms=to_ms(now)) for c in self.base.clusters)
        snapshot = replace(
            self.base, at_ms=to_ms(now), waiting=waiting, holdings=tuple(self._holdings()), clusters=clusters
        )
        for decision in cycle(snapshot, rules).decisions:
            live = self._waiting[decision.job]
            if isinstance(decision, Admit):
                self._admit(live, decision, now)
            else:
                self._explain(live, decision, now)

    def _admit(self, live: Live, decision: Admit, now: datetime) -> None:
        job, site = live.job, self.sites[decision.cluster]
        del self._waiting[decision.job]
        attempt = attempt_row(
            job, decision, cluster=site.cluster, nodes=self.nodes, devices=self.devices, now=now, currency=CURRENCY
        )
        held = held_rows(job, attempt, decision, nodes=self.nodes, now=now)
        live.attempt, live.held, live.record = attempt, held, None
        self.past.attempts.append(attempt)
        self.past.held.append(held)
        self._open[attempt.workload_name] = live
        facts = {"pool": decision.pool, "nodes": len({p.host for p in decision.placements})}
        self.past.move(live, JobState.ADMITTED, Reason.ADMITTED, now, facts=facts)
        self._at(now + _PASS, lambda at: self._look(live, at))

    def _explain(self, live: Live, decision: Decision, now: datetime) -> None:
        assert not isinstance(decision, Admit)
        job, reason, facts = live.job, decision.why.reason, facts_of(decision)
        refused = isinstance(decision, Never) or reason is Reason.POOL_REFUSES
        if refused and job.submitted_at == now:
            self._refuse(live)
            return
        if isinstance(decision, Expire):
            del self._waiting[decision.job]
            self.past.move(live, JobState.FAILED, reason, now, facts=facts)
            job.archived_at, job.archive_note = now, "NothingToKeep"
            return
        if job.reason != reason or material(job.facts) != material(facts):
            self.past.event(job, now, kind="reason", reason=reason, facts=facts)
            job.reason_at = now
        job.reason, job.facts = reason, facts

    def _refuse(self, live: Live) -> None:
        """What can never start, or what no pool takes, is not queued: nobody ever saw this job."""
        del self._waiting[str(live.job.pk)]
        self.past.jobs.remove(live.job)
        self.past.events = [event for event in self.past.events if event.job is not live.job]

    def _holdings(self) -> Iterable[Holding]:
        for live in self._open.values():
            if live.held is not None and live.held.allocation.state != AllocationState.RELEASED:
                yield from holdings_of(live.job, live.attempt, live.held)

    # -- reconcile -----------------------------------------------------------------------------------------------------

    def _look(self, live: Live, now: datetime) -> None:
        """One attempt as its cluster shows it now, and the one next step."""
        attempt = live.attempt
        if attempt is None or attempt.workload_name not in self._open:
            return
        driver = self.sites[attempt.cluster.key].driver
        try:
            if not attempt.ended:
                observation = driver.observe()
                seen = next((w for w in observation.workloads if w.name == attempt.workload_name), None)
                action = decide(view_of(attempt), seen, complete=observation.complete, now=now)
                self._act(live, seen, action, now)
            live = self._open.get(attempt.workload_name, live)
            if attempt.ended and attempt.released_at is None:
                self._prove(live, now)
            if attempt.released_at is not None:
                self._archive(live, now)
        except DriverError:
            self._at(now + _AGAIN, lambda at: self._look(live, at))
            return
        if attempt.workload_name in self._open:
            self._look_when_it_changes(live, now)

    def _act(self, live: Live, seen: SeenWorkload | None, action: Action | None, now: datetime) -> None:
        attempt, job = live.attempt, live.job
        assert attempt is not None
        match action:
            case Apply():
                self._apply(live, now)
            case Stop():
                if job.state != JobState.STOPPING:
                    self.past.move(
                        live, JobState.STOPPING, action.reason, now, facts=action.facts, stop_to=action.to.value
                    )
                    attempt.stop_asked_at = now
                self._stop(live)
            case Missing():
                attempt.missing_passes += 1
            case Progress():
                self._see(live, seen, action)
                if action.to is JobState.RUNNING and job.state == JobState.STARTING:
                    at = action.times.started_at or now
                    self.past.move(live, JobState.RUNNING, Reason.RUNNING, now, at=at, facts=running_facts(attempt))
                if action.apply:
                    self._apply(live, now)
            case End():
                self._end(live, seen, action, now)

    def _apply(self, live: Live, now: datetime) -> None:
        attempt, job = live.attempt, live.job
        assert attempt is not None
        if job.state == JobState.ADMITTED:
            facts = {"cluster": attempt.cluster.name}
            self.past.move(live, JobState.STARTING, Reason.START_REQUESTED, now, facts=facts)
        try:
            self.sites[attempt.cluster.key].driver.apply(workload_of(job, attempt))
        except WorkloadRejected as error:
            facts = {"cluster": attempt.cluster.name, "detail": error.reason}
            self.past.move(live, JobState.FAILED, Reason.REJECTED_BY_CLUSTER, now, facts=facts)

    def _stop(self, live: Live) -> None:
        attempt = live.attempt
        assert attempt is not None
        driver = self.sites[attempt.cluster.key].driver
        driver.stop(attempt.workload_name, attempt_id=str(attempt.pk), grace_ms=live.job.grace_ms)

    def _end(self, live: Live, seen: SeenWorkload | None, action: End, now: datetime) -> None:
        attempt, job = live.attempt, live.job
        assert attempt is not None
        self._see(live, seen, action)
        attempt.exit_code = action.exit_code
        moment = action.times.stopped_at or now
        for step in way_to_end(JobState(job.state), action):
            self._take_step(live, step, action, moment=moment, now=now)
        if action.to is JobState.QUEUED:
            # The attempt stays open, on its own, until it is released; the job waits again.
            self._open[attempt.workload_name] = Live(job, attempt, live.held)
            live.attempt = live.held = live.record = None
            self._waiting[str(job.pk)] = live
            self._dirty = True

    def _take_step(self, live: Live, step: Step, action: End, *, moment: datetime, now: datetime) -> None:
        assert live.attempt is not None
        self.past.move(
            live,
            step.state,
            step.reason,
            now,
            at=moment if step.state is action.to else step.at,
            facts=facts_of_step(live.job, live.attempt, step, action),
            stop_to=action.to.value if step.state is JobState.STOPPING else "",
        )

    def _see(self, live: Live, seen: SeenWorkload | None, action: Progress | End) -> None:
        attempt, held = live.attempt, live.held
        assert attempt is not None and held is not None
        if "bound_at" in write_times(attempt, seen, action.times) and attempt.bound_at is not None:
            move_allocation(held.allocation, AllocationState.BOUND, attempt.bound_at)

    # -- release -------------------------------------------------------------------------------------------------------

    def _prove(self, live: Live, now: datetime) -> None:
        attempt, held = live.attempt, live.held
        assert attempt is not None and held is not None
        driver = self.sites[attempt.cluster.key].driver
        reading = driver.release(attempt.workload_name, attempt_id=str(attempt.pk))
        if live.record is None:
            live.record = ReleaseRecord(allocation=held.allocation, stopped_at=attempt.stopped_at or now)
            self.past.releases.append(live.record)
        record = live.record
        if not write_levels(record, reading):
            self._leak_if_late(live, record, now)
            return
        if held.allocation.state == AllocationState.RESERVED:
            move_allocation(held.allocation, AllocationState.RELEASING, record.stopped_at)
        move_allocation(held.allocation, AllocationState.RELEASED, reading.at)
        for hold in held.holds:
            hold.released = True
        facts = released_facts(record, held.lines, reading.at)
        self.past.event(
            live.job, now, at=reading.at, kind="release", reason=Reason.RELEASED, facts=facts, attempt=attempt
        )
        attempt.released_at = reading.at
        self._dirty = True

    def _leak_if_late(self, live: Live, record: ReleaseRecord, now: datetime) -> None:
        attempt, held = live.attempt, live.held
        assert attempt is not None and held is not None
        late = now - record.stopped_at > LEAKED_AFTER
        if not late or held.allocation.state != AllocationState.RELEASING:
            return
        move_allocation(held.allocation, AllocationState.LEAKED, now)
        record.leaked_at = now
        stopped = to_ms(record.stopped_at)
        facts = {"what": held_sums(held.lines), "age": stopped, "owner": attempt.cluster.maintainer, "t": stopped}
        self.past.event(live.job, now, kind="release", reason=Reason.LEAKED, facts=facts, attempt=attempt)

    def _archive(self, live: Live, now: datetime) -> None:
        attempt, job = live.attempt, live.job
        assert attempt is not None
        driver = self.sites[attempt.cluster.key].driver
        rows, unread = kept_logs(driver, attempt, now)
        if unread:
            return  # its node is away: the log is there again when the node is
        driver.forget(attempt.workload_name, attempt_id=str(attempt.pk))
        self.past.artifacts += rows
        attempt.closed = True
        del self._open[attempt.workload_name]
        if JobState(job.state) in FINAL and job.generation == attempt.number:
            job.archived_at = now
            facts = {"files": len(rows), "note": "", "refused": 0}
            self.past.event(job, now, kind="archive", reason=Reason.ARCHIVED, facts=facts, attempt=attempt)

    # -- the clock -----------------------------------------------------------------------------------------------------

    def _at(self, moment: datetime, act: Callable[[datetime], None]) -> None:
        heapq.heappush(self._queue, (moment, next(self._serial), act))

    def _look_when_it_changes(self, live: Live, now: datetime) -> None:
        """Look again after the next thing happens on the cluster, or soon where nothing is foreseen."""
        attempt = live.attempt
        assert attempt is not None
        turn = self.sites[attempt.cluster.key].driver.next_turn(attempt.workload_name, after=now)
        if turn is None and not attempt.ended and not attempt.missing_passes and live.job.state == JobState.RUNNING:
            return  # it serves until somebody stops it
        leaked = live.held is not None and live.held.allocation.state == AllocationState.LEAKED
        after = turn if turn is not None else now + (_MUCH_LATER if leaked else _AGAIN)
        if live.job.state == JobState.STARTING:
            # A start that takes too long is given up, however late the cluster would have made it.
            given_up = attempt.admitted_at + READY_TIMEOUT
            after = min(after, given_up if given_up > now else now + _AGAIN)
        self._at(max(after, now) + _PASS, lambda at: self._look(live, at))
