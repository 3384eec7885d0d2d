"""Turn released allocations into ledger segments and rated entries."""

import uuid
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef

from jobs.models import Allocation, AllocationLine
from jobs.states import AllocationState
from metering.models import LedgerEntry, MeteredAllocation, Period, Segment
from metering.rating import Piece, amount, cut, months_between, phases
from metering.selectors.rates import rates_by_axis
from portal.lib.locks import try_session_lock

BATCH, AT_ONCE = 500, 50
_SPACE = uuid.UUID("6f1f2a52-3f0d-5d58-9c0b-1d7b3a6f7c10")


def record_usage(*, now: datetime) -> int:
    """How many allocations were entered. Idempotent: rows have keys derived from their source, written once.

    Only what has been seen free is entered; what is still held is computed on the page and marked so.
    """
    with try_session_lock("metering.record_usage") as held:
        return _pass(now) if held else 0


def _pass(now: datetime) -> int:
    entered = MeteredAllocation.objects.filter(pk=OuterRef("pk"))
    pending = (
        Allocation.objects.filter(~Exists(entered), state=AllocationState.RELEASED, bound_at__isnull=False)
        .select_related("attempt__job__project__team", "attempt__job__submitter", "attempt__cluster")
        .prefetch_related("lines__node")
        .order_by("released_at", "id")[:BATCH]
    )
    rows = list(pending)
    for first in range(0, len(rows), AT_ONCE):
        with transaction.atomic():
            _enter(rows[first : first + AT_ONCE], now)
    return len(rows)


def _enter(allocations: list[Allocation], now: datetime) -> None:
    """Mark them as entered and write their segments and entries, all or none."""
    marks = [MeteredAllocation(allocation_id=allocation.pk, recorded_at=now) for allocation in allocations]
    MeteredAllocation.objects.bulk_create(marks)
    spans = {allocation.pk: _spans(allocation) for allocation in allocations}
    moments = [moment for own in spans.values() for _phase, left, right in own for moment in (left, right)]
    if not moments:
        return
    start, end = min(moments), max(moments)
    rates = rates_by_axis(start, end)
    periods = list(Period.objects.filter(start__lt=end, end__gt=start))
    edges = [*months_between(start, end), *(m for p in periods for m in (p.start, p.end))]
    segments: list[Segment] = []
    entries: list[LedgerEntry] = []
    for allocation in allocations:
        for line in allocation.lines.all():
            own = rates.get((line.class_key, line.resource), [])
            for phase, left, right in spans[allocation.pk]:
                for piece in cut(left, right, own, edges):
                    segment = _segment(allocation, line, phase, piece, now)
                    segments.append(segment)
                    entries.append(_entry(segment, piece, periods, now))
    Segment.objects.bulk_create(segments, ignore_conflicts=True)
    LedgerEntry.objects.bulk_create(entries, ignore_conflicts=True)


def _spans(allocation: Allocation) -> list[tuple[str, datetime, datetime]]:
    attempt = allocation.attempt
    return list(
        phases(
            bound=allocation.bound_at,
            started=attempt.started_at,
            stopped=attempt.stopped_at,
            released=allocation.released_at,
        )
    )


def _segment(allocation: Allocation, line: AllocationLine, phase: str, piece: Piece, now: datetime) -> Segment:
    attempt = allocation.attempt
    job, project = attempt.job, attempt.job.project
    return Segment(
        id=uuid.uuid5(_SPACE, f"{line.pk}|{phase}|{piece.start.isoformat()}"),
        start=piece.start,
        end=piece.end,
        phase=phase,
        quantity=line.quantity,
        class_key=line.class_key,
        resource=line.resource,
        node_name=line.node.name,
        cluster_key=attempt.cluster.key,
        pool_key=allocation.pool_key,
        allocation_id=allocation.pk,
        attempt_id=attempt.pk,
        job_id=job.pk,
        job_name=job.name,
        task_type=job.task_type,
        project_id=project.pk,
        project_name=project.name,
        team_id=project.team_id,
        team_name=project.team.name,
        user_id=job.submitter_id,
        user_name=str(job.submitter),
        recorded_at=now,
    )


def _entry(segment: Segment, piece: Piece, periods: Iterable[Period], now: datetime) -> LedgerEntry:
    rate = piece.rate
    period = next((p for p in periods if p.start <= piece.start < p.end), None)
    return LedgerEntry(
        id=uuid.uuid5(_SPACE, f"entry|{segment.pk}"),
        start=segment.start,
        segment_id=segment.pk,
        period_id=period.pk if period else None,
        rate_id=uuid.UUID(rate.key) if rate else None,
        quantity_ms=segment.quantity * piece.ms,
        currency=rate.currency if rate else "",
        cost_micro=amount(segment.quantity, piece.ms, rate.price_micro, rate.per) if rate else None,
        weight_micro=amount(segment.quantity, piece.ms, rate.weight_micro, rate.per) if rate else None,
        recorded_at=now,
    )
