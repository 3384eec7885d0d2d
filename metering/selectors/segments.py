"""Segments of one job with the entry that rates each: the last step of every drill-down."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from metering.models import LedgerEntry, Segment
from resources.models import RateVersion


@dataclass(frozen=True, slots=True)
class RatedSegment:
    """A segment, its entry (None: not entered) and the rate version (None: unrated)."""

    segment: Segment
    entry: LedgerEntry | None
    rate: RateVersion | None


def segments_of(job_id: UUID) -> QuerySet[Segment]:
    """Everything the ledger has of the job, oldest first."""
    return Segment.objects.filter(job_id=job_id).order_by("start", "class_key", "node_name", "id")


def with_rates(segments: Sequence[Segment]) -> list[RatedSegment]:
    """Each with its entry and rate. Two queries."""
    entries = LedgerEntry.objects.filter(segment_id__in=[s.pk for s in segments])
    by_segment = {entry.segment_id: entry for entry in entries}
    rates = RateVersion.objects.in_bulk({entry.rate_id for entry in by_segment.values() if entry.rate_id})
    return [
        RatedSegment(s, entry := by_segment.get(s.pk), rates.get(entry.rate_id) if entry and entry.rate_id else None)
        for s in segments
    ]
