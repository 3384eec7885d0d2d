"""Read a cluster again after an end and write down, level by level, what came back."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from jobs.models import Allocation, Attempt, ReleaseRecord
from jobs.reasons import Reason
from jobs.rows import held_sums, released_facts, write_levels
from jobs.services.announce_job import announce_job
from jobs.services.move_allocation import move_allocation
from jobs.services.record_event import record_event
from jobs.states import AllocationState
from portal.lib.clock import to_ms
from portal.lib.failpoints import failpoint
from portal.lib.queue import enqueue
from resources.drivers.base import Driver, ReleaseReading
from tenants.notify.events import Event
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
    free = write_levels(record, reading)
    record.save()
    if not free:
        return _leak_if_late(allocation, attempt, record, now)
    if allocation.state == AllocationState.RESERVED:
        move_allocation(allocation=allocation, to=AllocationState.RELEASING, at=record.stopped_at, now=now)
    move_allocation(allocation=allocation, to=AllocationState.RELEASED, at=reading.at, now=now)
    facts = released_facts(record, allocation.lines.all(), reading.at)
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


def _leak_if_late(allocation: Allocation, attempt: Attempt, record: ReleaseRecord, now: datetime) -> bool:
    late = now - record.stopped_at > LEAKED_AFTER
    if not late or allocation.state != AllocationState.RELEASING:
        return False
    move_allocation(allocation=allocation, to=AllocationState.LEAKED, at=now, now=now)
    ReleaseRecord.objects.filter(pk=record.pk).update(leaked_at=now)
    facts: dict[str, Any] = {
        "what": held_sums(allocation.lines.all()),
        "age": to_ms(record.stopped_at),
        "owner": attempt.cluster.maintainer,
        "t": to_ms(record.stopped_at),
    }
    record_event(job=attempt.job, at=now, now=now, kind="release", reason=Reason.LEAKED, facts=facts, attempt=attempt)
    record_audit(actor=None, verb="allocation.leaked", target=attempt.job, after=facts, reason=Reason.LEAKED, now=now)
    announce_job(
        job=attempt.job,
        event=Event.ALLOCATION_LEAKED,
        reason=Reason.LEAKED,
        facts=facts,
        cluster=attempt.cluster.name,
        pool=allocation.pool_key,
        now=now,
    )
    return False
