"""The rows of a replayed past, and the moves of its jobs and allocations, as the services make them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from jobs.models import Allocation, Artifact, Attempt, Job, JobEvent, ReleaseRecord
from jobs.reasons import Reason
from jobs.rows import ENDS_ATTEMPT, TIME_OF, Held, close_attempt, event_row, move_values
from jobs.scheduler.snapshot import Axis, DeviceShare, Holding, Line, Resource
from jobs.states import FINAL, AllocationState, JobState
from portal.lib.clock import to_ms
from tenants.models import User

_ONE_AFTER_ANOTHER = timedelta(microseconds=1)
"""What is written in one instant keeps its order: events are read by it."""


@dataclass(slots=True)
class Live:
    """A job under way, with its current attempt and what that holds."""

    job: Job
    attempt: Attempt | None = None
    held: Held | None = None
    record: ReleaseRecord | None = None


@dataclass(slots=True)
class Past:
    """All rows of the history, in the order in which they came about, and the moves between them."""

    jobs: list[Job] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    releases: list[ReleaseRecord] = field(default_factory=list)
    events: list[JobEvent] = field(default_factory=list)
    artifacts: list[Artifact] = field(default_factory=list)
    cancelled: list[tuple[Job, datetime]] = field(default_factory=list)

    def move(
        self,
        live: Live,
        to: JobState,
        reason: Reason,
        now: datetime,
        *,
        at: datetime | None = None,
        facts: Mapping[str, object] | None = None,
        actor: User | None = None,
        **fields: str,
    ) -> None:
        job, attempt, old, moment = live.job, live.attempt, JobState(live.job.state), at or now
        requeue = to is JobState.QUEUED and attempt is not None
        values = fields | move_values(job, to, reason=reason, facts=facts, moment=moment, requeue=requeue)
        self.event(
            job,
            now,
            at=moment,
            kind="state",
            old=old.value,
            new=to.value,
            reason=reason,
            facts=facts,
            attempt=attempt if requeue or to is JobState.ADMITTED or to in FINAL else None,
            actor=actor,
        )
        if attempt is not None and live.held is not None and to in ENDS_ATTEMPT:
            never = close_attempt(attempt, old=old, reason=reason, facts=facts, moment=moment, now=now)
            state = AllocationState.RELEASED if never else AllocationState.RELEASING
            move_allocation(live.held.allocation, state, now if never else attempt.stopped_at or moment)
        for name, value in values.items():
            setattr(job, name, value)

    def event(
        self, job: Job, now: datetime, *, kind: str, reason: Reason, at: datetime | None = None, **more: object
    ) -> None:
        row = event_row(job=job, at=at or now, now=now, kind=kind, reason=reason, **more)  # type: ignore[arg-type]
        if self.events and row.recorded_at <= self.events[-1].recorded_at:
            row.recorded_at = self.events[-1].recorded_at + _ONE_AFTER_ANOTHER
        self.events.append(row)


def move_allocation(allocation: Allocation, to: AllocationState, at: datetime) -> None:
    """Put the allocation there; never before it was reserved."""
    allocation.state = to.value
    setattr(allocation, TIME_OF[to], max(at, allocation.reserved_at))


def holdings_of(job: Job, attempt: Attempt | None, held: Held) -> Iterable[Holding]:
    """What an allocation holds, in the scheduler's words, one row a host."""
    assert attempt is not None
    begun = attempt.started_at or attempt.admitted_at
    ends = to_ms(begun) + job.time_limit_ms if job.time_limit_ms is not None else None
    hosts: dict[str, list[int]] = {}
    for index, line in enumerate(held.lines):
        hosts.setdefault(str(line.node_id), []).append(index)
    shares: dict[str, list[DeviceShare]] = {}
    for hold in held.holds:
        shares.setdefault(str(hold.line.node_id), []).append(DeviceShare(str(hold.device_id), hold.parts))
    for host, indexes in hosts.items():
        lines = [held.lines[i] for i in indexes]
        amounts: dict[Axis, int] = {}
        for line in lines:
            axis = Axis(line.class_key, Resource(line.resource))
            amounts[axis] = amounts.get(axis, 0) + line.quantity
        yield Holding(
            allocation=str(held.allocation.pk),
            job=str(job.pk),
            tenant=str(job.project_id),
            pool=held.allocation.pool_key,
            host=host,
            state=AllocationState(held.allocation.state),
            lines=tuple(Line(axis, amount) for axis, amount in amounts.items()),
            devices=tuple(shares.get(host, ())),
            pods=len({line.member for line in lines}),
            ends_ms=ends,
        )
