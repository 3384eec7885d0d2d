"""Read a cluster again after an end and write down, level by level, what came back."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Sum

from jobs.models import Allocation, AllocationLine, Attempt, ReleaseRecord
from jobs.reasons import Reason
from jobs.services.move_allocation import move_allocation
from jobs.services.record_event import record_event
from jobs.states import AllocationState
from portal.lib.failpoints import failpoint
from portal.lib.queue import enqueue
from resources.drivers.base import Driver, Idle, ReleaseReading
from tenants.services.record_audit import record_audit

LEAKED_AFTER = timedelta(minutes=2)
"""After this long an allocation not seen free is a leak: its devices stay blocked, its tenant's quota does not."""


def prove_release(*, driver: Driver, attempt: Attempt, now: datetime) -> bool:
    """True once everything the attempt held was seen free. Idempotent; a level once seen keeps its first time.

    Each level is what the cluster answered, never what our own ledger says.
    """
    reading = driver.release(attempt.workload_name, attempt_id=str(attempt.pk))
    failpoint("jobs.release.after_reading")
    with transaction.atomic():
        pending = attempt.allocations.select_for_update().exclude(state=AllocationState.RELEASED)
        done = [_prove(allocation, attempt, reading, now) for allocation in pending]
        if not all(done):
            return False
        attempt.released_at = reading.at
        attempt.save(update_fields=["released_at"])
        enqueue("jobs.run_cycle")
        enqueue("metering.record_usage")
    return True


def _prove(allocation: Allocation, attempt: Attempt, reading: ReleaseReading, now: datetime) -> bool:
    record, _ = ReleaseRecord.objects.get_or_create(
        allocation=allocation, defaults={"stopped_at": attempt.stopped_at or now}
    )
    _write_levels(record, reading)
    if record.objects_gone_at is None or record.capacity_free_at is None or record.device_state == Idle.BUSY:
        record.save()
        return _leak_if_late(allocation, attempt, record, now)
    record.quota_returned_at = record.slot_returned_at = record.completed_at = reading.at
    record.save()
    if allocation.state == AllocationState.RESERVED:
        move_allocation(allocation=allocation, to=AllocationState.RELEASING, at=record.stopped_at, now=now)
    move_allocation(allocation=allocation, to=AllocationState.RELEASED, at=reading.at, now=now)
    facts = {"t": _instant(reading.at), "what": _held_lines(allocation), "files": record.temporary_files}
    record_event(
        job=attempt.job,
        at=reading.at,
        now=now,
        kind="release",
        reason=Reason.RELEASED,
        facts=facts,
        attempt=attempt,
    )
    return True


def _write_levels(record: ReleaseRecord, reading: ReleaseReading) -> None:
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


def _device_level(reading: ReleaseReading) -> Idle:
    """The worst of all devices; a job without devices is judged by its processes' use of the CPU."""
    states = set(reading.devices.values()) or {reading.cpu_idle}
    for state in (Idle.BUSY, Idle.NOT_OBSERVED):
        if state in states:
            return state
    return Idle.IDLE


def _leak_if_late(allocation: Allocation, attempt: Attempt, record: ReleaseRecord, now: datetime) -> bool:
    late = now - record.stopped_at > LEAKED_AFTER
    if not late or allocation.state != AllocationState.RELEASING:
        return False
    move_allocation(allocation=allocation, to=AllocationState.LEAKED, at=now, now=now)
    ReleaseRecord.objects.filter(pk=record.pk).update(leaked_at=now)
    facts: dict[str, Any] = {
        "what": _held_lines(allocation),
        "age": _instant(record.stopped_at),
        "owner": attempt.cluster.maintainer,
        "t": _instant(record.stopped_at),
    }
    record_event(job=attempt.job, at=now, now=now, kind="release", reason=Reason.LEAKED, facts=facts, attempt=attempt)
    record_audit(actor=None, verb="allocation.leaked", target=attempt.job, after=facts, reason=Reason.LEAKED, now=now)
    return False


def _held_lines(allocation: Allocation) -> list[list[object]]:
    """What the allocation holds, summed: [class key, resource, amount] each."""
    rows = (
        AllocationLine.objects.filter(allocation=allocation)
        .order_by("class_key", "resource")
        .values_list("class_key", "resource")
        .annotate(total=Sum("quantity"))
    )
    return [[key, resource, int(total)] for key, resource, total in rows]


def _instant(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
