"""Rows made from what was decided or seen, not yet saved.

The services save them one by one and guard each move; a history that is replayed saves them in bulk. What a row says
is written here once, so that both say the same.
"""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.models import Allocation, AllocationLine, Attempt, DeviceHold, Job, JobEvent, ReleaseRecord
from jobs.reasons import BY_VALUE, Reason
from jobs.reconcile import End, Times, View
from jobs.scheduler.decision import Admit, Placement
from jobs.states import FINAL, AllocationState, JobState, may_move
from portal.lib.clock import to_ms
from resources.drivers.base import WHOLE_DEVICE, Idle, ReleaseReading, SeenMember, SeenWorkload
from resources.models import Cluster, Node
from tenants.models import User

ENDS_ATTEMPT = frozenset({JobState.QUEUED, *FINAL})
TIME_OF = {
    AllocationState.BOUND: "bound_at",
    AllocationState.RELEASING: "releasing_at",
    AllocationState.RELEASED: "released_at",
    AllocationState.LEAKED: "leaked_at",
}
"""The column in which a state of an allocation keeps when it began."""
TIMES = ("bound_at", "started_at", "ready_at", "stopped_at")
DeviceNames = Mapping[str, tuple[str, str]]
"""Device key -> resource name and the vendor's own id."""


@dataclass(frozen=True, slots=True)
class Held:
    """What one decision takes: an allocation, its lines and the devices behind them."""

    allocation: Allocation
    lines: list[AllocationLine]
    holds: list[DeviceHold]


@dataclass(frozen=True, slots=True)
class Step:
    """One state on the way to an end; `at` is None where it is not known by itself."""

    state: JobState
    reason: Reason
    at: datetime | None


def event_row(
    *,
    job: Job,
    at: datetime,
    now: datetime,
    kind: str,
    reason: str,
    old: str = "",
    new: str = "",
    facts: Mapping[str, Any] | None = None,
    attempt: Attempt | None = None,
    actor: User | None = None,
    cycle_id: uuid.UUID | None = None,
) -> JobEvent:
    """An event of the job's history."""
    return JobEvent(
        job=job,
        at=at,
        recorded_at=now,
        kind=kind,
        old=old,
        new=new,
        reason=str(reason),
        facts=dict(facts or {}),
        attempt_id=attempt.pk if attempt else None,
        cycle_id=cycle_id,
        actor_id=actor.pk if actor else None,
        actor_name=str(actor) if actor else "",
    )


def move_values(
    job: Job,
    to: JobState,
    *,
    reason: str,
    facts: Mapping[str, Any] | None,
    moment: datetime,
    requeue: bool,
) -> dict[str, Any]:
    """The columns of a job that moves to `to`. ValueError for a move that is not in the table."""
    if not may_move(JobState(job.state), to):
        raise ValueError(f"{job.state} -> {to} is not a move")
    values: dict[str, Any] = {
        "state": to.value,
        "reason": str(reason),
        "facts": dict(facts or {}),
        "reason_at": moment,
    }
    if to in FINAL:
        values["finished_at"] = moment
    if to is JobState.QUEUED and requeue:
        values |= {"generation": job.generation + 1, "stop_to": "", "stops_for": None}
    if to is JobState.ADMITTED:
        values |= {"claims_pool": "", "claims_since": None}
    return values


def close_attempt(
    attempt: Attempt,
    *,
    old: JobState,
    reason: str,
    facts: Mapping[str, Any] | None,
    moment: datetime,
    now: datetime,
) -> bool:
    """Mark the attempt as over. True when it was surely never created, and what it held is free at once."""
    attempt.ended = True
    attempt.end_reason = str(reason)
    attempt.end_facts = dict(facts or {})
    attempt.stopped_at = attempt.stopped_at or moment
    never_created = old is JobState.ADMITTED
    if never_created:
        attempt.released_at, attempt.closed = now, True
    return never_created


def view_of(attempt: Attempt) -> View:
    """The attempt in the words of the pure decision."""
    job = attempt.job
    return View(
        state=JobState(job.state),
        members=len(attempt.placement),
        gang=job.gang,
        claimed_at=attempt.admitted_at,
        started_at=attempt.started_at,
        stop_to=JobState(job.stop_to) if job.stop_to else None,
        stop_reason=BY_VALUE.get(job.reason) if job.stop_to else None,
        time_limit_ms=job.time_limit_ms,
        memory_bytes=next((int(m["memory"]) for m in attempt.placement), None),
        grace_ms=job.grace_ms,
        attempts_left=job.max_attempts - attempt.number,
        missing_passes=attempt.missing_passes,
        expires_quietly=job.task_type == "experiment",
        bound_at=attempt.bound_at,
    )


def attempt_row(
    job: Job,
    decision: Admit,
    *,
    cluster: Cluster,
    nodes: Mapping[str, Node],
    devices: DeviceNames,
    now: datetime,
    currency: str,
) -> Attempt:
    """The attempt an admission makes; its workload's name follows from job and generation."""
    return Attempt(
        job=job,
        number=job.generation,
        cluster=cluster,
        pool_key=decision.pool,
        workload_name=f"j-{job.id.hex}-{job.generation}",
        placement=[_member(i, p, nodes[p.host], devices) for i, p in enumerate(decision.placements)],
        why_here={"alternative": decision.alternative},
        price_micro_hour=decision.price_micro_per_hour,
        currency=currency,
        reserved_at=now,
        admitted_at=now,
        resumed=job.generation > 1,
    )


def held_rows(job: Job, attempt: Attempt, decision: Admit, *, nodes: Mapping[str, Node], now: datetime) -> Held:
    """The allocation of an admission, RESERVED, with a line for each amount and a hold for each device."""
    allocation = Allocation(
        attempt=attempt,
        project=job.project,
        pool_key=decision.pool,
        state=AllocationState.RESERVED,
        reserved_at=now,
    )
    held = Held(allocation, [], [])
    for index, placement in enumerate(decision.placements):
        for line in placement.lines:
            if not line.amount:
                continue
            row = AllocationLine(
                allocation=allocation,
                node=nodes[placement.host],
                member=index,
                class_key=line.axis.class_key,
                resource=line.axis.resource,
                quantity=line.amount,
            )
            held.lines.append(row)
            if row.resource == "device":
                held.holds.extend(_holds(row, placement))
    return held


def write_times(attempt: Attempt, seen: SeenWorkload | None, times: Times) -> list[str]:
    """Put what is seen on the attempt; the names of the columns that changed. Known times never move."""
    fields: list[str] = []
    for name in TIMES:
        value = getattr(times, name)
        if value is not None and getattr(attempt, name) is None:
            setattr(attempt, name, value)
            fields.append(name)
            if name in times.said:
                attempt.corrected_times = attempt.corrected_times | {name: times.said[name].isoformat()}
    if any(name in times.said for name in fields):
        fields.append("corrected_times")
    members = [_plain(m) for m in seen.members] if seen else attempt.members_seen
    if members != attempt.members_seen:
        attempt.members_seen = members
        attempt.addresses = [m.address for m in seen.members if m.address] if seen else attempt.addresses
        fields += ["members_seen", "addresses"]
    if attempt.missing_passes and seen is not None:
        attempt.missing_passes = 0
        fields.append("missing_passes")
    return fields


def way_to_end(state: JobState, action: End) -> list[Step]:
    """The states passed on the way to the end: what is first seen finished was running before."""
    way: list[Step] = []
    via_stop = action.to in (JobState.QUEUED, JobState.CANCELLED)
    if state is JobState.STARTING and action.times.started_at is not None:
        way.append(Step(JobState.RUNNING, Reason.RUNNING, action.times.started_at))
    elif state is JobState.STARTING and action.to is JobState.SUCCEEDED:
        way.append(Step(JobState.RUNNING, Reason.RUNNING, action.times.stopped_at))
    if via_stop and state is not JobState.STOPPING:
        way.append(Step(JobState.STOPPING, action.reason, action.times.stopped_at))
    return [*way, Step(action.to, action.reason, None)]


def facts_of_step(job: Job, attempt: Attempt, step: Step, action: End) -> dict[str, Any]:
    """The facts of one step. The end that a stop was asked for keeps what was said then: by whom, at which limit."""
    if step.reason != action.reason:
        return running_facts(attempt)
    said = job.facts if job.reason == action.reason else {}
    return {**said, **action.facts, "i": attempt.number + 1}


def running_facts(attempt: Attempt) -> dict[str, Any]:
    """The facts of an attempt that is up."""
    return {"nodes": len({member["node"] for member in attempt.placement})}


def write_levels(record: ReleaseRecord, reading: ReleaseReading) -> bool:
    """Put a reading on the record, level by level; True once all are seen free. A level keeps its first time."""
    if record.objects_gone_at is None:
        record.objects_evidence = {"left": reading.objects_left, "read_at": reading.at.isoformat()}
        record.objects_gone_at = reading.at if reading.objects_left == 0 else None
    if record.capacity_free_at is None:
        used = {"cpu": reading.used_cpu_milli, "memory": reading.used_memory_bytes}
        record.capacity_evidence = {"used": used, "read_at": reading.at.isoformat()}
        record.capacity_free_at = reading.at if all(v == 0 for v in used.values()) else None
    if record.device_idle_at is None:
        record.device_state = _device_level(reading).value
        record.device_evidence = {
            "devices": {uuid: idle.value for uuid, idle in reading.devices.items()},
            "cpu": reading.cpu_idle.value,
            "read_at": reading.at.isoformat(),
        }
        record.device_idle_at = reading.at if record.device_state == Idle.IDLE else None
    if reading.temporary_files is not None and record.temporary_removed_at is None:
        record.temporary_files = reading.temporary_files
        record.temporary_bytes = reading.temporary_bytes
        record.temporary_removed_at = reading.at
    free = record.objects_gone_at and record.capacity_free_at and record.device_state != Idle.BUSY
    if free:
        record.quota_returned_at = record.slot_returned_at = record.completed_at = reading.at
    return bool(free)


def released_facts(record: ReleaseRecord, lines: Iterable[AllocationLine], at: datetime) -> dict[str, Any]:
    """The facts of a release that is proved."""
    return {"t": to_ms(at), "what": held_sums(lines), "files": record.temporary_files}


def held_sums(lines: Iterable[AllocationLine]) -> list[list[object]]:
    """What is held, summed: [class key, resource, amount] each."""
    sums: dict[tuple[str, str], int] = {}
    for line in lines:
        key = (line.class_key, str(line.resource))
        sums[key] = sums.get(key, 0) + line.quantity
    return [[key, resource, sums[key, resource]] for key, resource in sorted(sums)]


def _member(index: int, placement: Placement, node: Node, devices: DeviceNames) -> dict[str, object]:
    amounts = {str(line.axis.resource): line.amount for line in placement.lines}
    named: dict[str, list[str]] = {}
    for share in placement.devices:
        resource_name, vendor_id = devices[share.device]
        named.setdefault(resource_name, []).append(vendor_id)
    return {
        "index": index,
        "node": node.name,
        "cpu": amounts.get("cpu", 0),
        "memory": amounts.get("memory", 0),
        "devices": named,
    }


def _holds(line: AllocationLine, placement: Placement) -> list[DeviceHold]:
    return [
        DeviceHold(line=line, device_id=uuid.UUID(d.device), parts=d.parts, exclusive=d.parts == WHOLE_DEVICE)
        for d in placement.devices
    ]


def _plain(member: SeenMember) -> dict[str, Any]:
    return {
        "index": member.index,
        "node": member.node,
        "phase": member.phase.value,
        "started_at": _iso(member.started_at),
        "ready_at": _iso(member.ready_at),
        "finished_at": _iso(member.finished_at),
        "exit_code": member.exit_code,
        "signal": member.signal,
        "reason": member.reason,
        "message": member.message[:500],
        "address": member.address,
    }


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _device_level(reading: ReleaseReading) -> Idle:
    """The worst of all devices; a job without devices is judged by its processes' use of the CPU."""
    states = set(reading.devices.values()) or {reading.cpu_idle}
    for state in (Idle.BUSY, Idle.NOT_OBSERVED):
        if state in states:
            return state
    return Idle.IDLE
