"""What a job used, per class and phase, from its allocations: live while it runs, exact to the millisecond."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from jobs.models import Allocation, Job
from jobs.sentences import UNIT_OF_RESOURCE
from metering.rating import phases
from metering.shapes import split
from portal.lib.clock import to_ms
from portal.lib.units import Unit, milliseconds
from resources.models import ResourceClass
from resources.selectors.rates import UNIT_OF

PHASES = ("startup", "running", "release_lag")


@dataclass(slots=True)
class ClassUse:
    """Base units × milliseconds of one class by phase; `unit` says how to show them."""

    key: str
    kind: str
    unit: Unit
    per: int
    by_phase: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PHASES, 0))

    @property
    def total(self) -> str:
        """Resource-hours over all phases."""
        return self._shown()[0]

    def hours(self, phase: str) -> str:
        """Resource-hours of one phase; the phases add up as shown."""
        return self._shown()[1][PHASES.index(phase)]

    def _shown(self) -> tuple[str, list[str]]:
        return split([self.by_phase[phase] for phase in PHASES], self.per)


@dataclass(slots=True)
class Usage:
    """Durations by phase in ms over all attempts, use by class, and whether it still grows."""

    wait_ms: int
    spans: dict[str, int]
    classes: list[ClassUse]
    open: bool

    @property
    def allocated_ms(self) -> int:
        """Time held: startup, running and release lag together."""
        return sum(self.spans.values())


def usage_of(job: Job, now: datetime) -> Usage:
    """Usage so far; an allocation still held is counted up to `now` and marks the whole as open."""
    spans: dict[str, int] = dict.fromkeys(PHASES, 0)
    uses: dict[tuple[str, str], ClassUse] = {}
    kinds = dict(ResourceClass.objects.values_list("key", "kind"))
    wait, is_open = 0, not job.is_final
    begun = job.eligible_at or job.submitted_at
    for allocation in _allocations(job):
        wait += _span_ms(begun, allocation.bound_at or allocation.released_at or now)
        begun = allocation.attempt.stopped_at or now
        is_open |= allocation.released_at is None
        for phase, left, right in _phases(allocation, now):
            ms = milliseconds(right - left)
            spans[phase] += ms
            for line in allocation.lines.all():
                use = uses.setdefault((line.class_key, line.resource), _empty(line, kinds))
                use.by_phase[phase] += line.quantity * ms
    if not uses and not job.is_final:
        wait = _span_ms(begun, now)
    return Usage(wait, spans, sorted(uses.values(), key=lambda u: u.key), is_open)


def _span_ms(start: datetime, end: datetime) -> int:
    """Each end is cut to its millisecond, as the ledger and the rail do it."""
    return max(0, to_ms(end) - to_ms(start))


def _allocations(job: Job) -> list[Allocation]:
    rows = Allocation.objects.filter(attempt__job=job).select_related("attempt").prefetch_related("lines")
    return list(rows.order_by("reserved_at"))


def _phases(allocation: Allocation, now: datetime) -> list[tuple[str, datetime, datetime]]:
    attempt = allocation.attempt
    return list(
        phases(
            bound=allocation.bound_at,
            started=attempt.started_at,
            stopped=attempt.stopped_at,
            released=allocation.released_at or now,
        )
    )


def _empty(line: Any, kinds: dict[str, str]) -> ClassUse:
    return ClassUse(
        key=line.class_key,
        kind=kinds.get(line.class_key, ""),
        unit=UNIT_OF_RESOURCE.get(line.resource, "count"),
        per=UNIT_OF.get(line.resource, 1),
    )
