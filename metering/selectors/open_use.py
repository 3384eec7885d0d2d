"""Use that the ledger does not have yet: still held, or just released. So far, and not final.

Computed from allocations by the same pure functions that make the ledger's rows.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from jobs.models import Allocation, AllocationLine
from metering.models import MeteredAllocation
from metering.rating import Piece, amount, cut, floor_ms, phases
from metering.selectors.rates import rates_by_axis
from metering.selectors.usage import Scope
from metering.selectors.use import Use
from metering.selectors.windows import Window


@dataclass(frozen=True, slots=True)
class OpenPiece:
    """A piece of use in one phase with the rate in force, as of now."""

    job_id: UUID
    job_name: str
    project_id: UUID
    node_name: str
    line: AllocationLine
    phase: str
    piece: Piece


def open_pieces(scope: Scope, window: Window, now: datetime) -> list[OpenPiece]:
    """Pieces inside the window, up to now. Three queries, whatever the number of allocations."""
    rates = rates_by_axis(window.start, window.end)
    found = []
    for allocation in _open(scope, window):
        for phase, left, right in _spans(allocation, window, now):
            for line in allocation.lines.all():
                own = rates.get((line.class_key, line.resource), [])
                found += [_piece(allocation, line, phase, piece) for piece in cut(left, right, own)]
    return found


def sum_of(pieces: Iterable[OpenPiece]) -> list[Use]:
    """One sum per class."""
    sums: dict[tuple[str, str], Use] = {}
    for item in pieces:
        line, rate, ms = item.line, item.piece.rate, item.piece.ms
        use = sums.setdefault((line.class_key, line.resource), Use(line.class_key, line.resource))
        use.add(
            item.phase,
            line.quantity * ms,
            cost=amount(line.quantity, ms, rate.price_micro, rate.per) if rate else None,
            weight=amount(line.quantity, ms, rate.weight_micro, rate.per) if rate else None,
            currency=rate.currency if rate else "",
        )
    return [sums[axis] for axis in sorted(sums, key=lambda axis: (axis[1], axis[0]))]


def _open(scope: Scope, window: Window) -> Iterable[Allocation]:
    entered = MeteredAllocation.objects.filter(pk=OuterRef("pk"))
    rows = Allocation.objects.filter(
        ~Exists(entered),
        Q(released_at__isnull=True) | Q(released_at__gt=window.start),
        bound_at__isnull=False,
        bound_at__lt=window.end,
    )
    if scope.user is not None:
        rows = rows.filter(attempt__job__submitter=scope.user)
    if scope.projects is not None:
        rows = rows.filter(project__in=scope.projects)
    if scope.jobs is not None:
        rows = rows.filter(attempt__job__in=scope.jobs)
    return rows.select_related("attempt__job").prefetch_related("lines__node").order_by("bound_at", "id")


def _spans(allocation: Allocation, window: Window, now: datetime) -> Iterator[tuple[str, datetime, datetime]]:
    attempt = allocation.attempt
    until = min(now, window.end)
    spans = phases(
        bound=allocation.bound_at,
        started=attempt.started_at,
        stopped=attempt.stopped_at,
        released=allocation.released_at or until,
    )
    for phase, left, right in spans:
        inside = max(left, window.start), min(right, floor_ms(until))
        if inside[0] < inside[1]:
            yield phase, *inside


def _piece(allocation: Allocation, line: AllocationLine, phase: str, piece: Piece) -> OpenPiece:
    job = allocation.attempt.job
    return OpenPiece(job.pk, job.name, allocation.project_id, line.node.name, line, phase, piece)
