"""Who is looked at first: a total order of waiting jobs, without ties."""

from __future__ import annotations

from collections.abc import Iterable

from jobs.scheduler.snapshot import WaitingJob


def in_order(waiting: Iterable[WaitingJob]) -> list[WaitingJob]:
    """The jobs by class, then higher priority, then earlier submission, then key."""
    return sorted(waiting, key=lambda job: (job.priority_class.rank, -job.priority, job.submitted_ms, job.key))
