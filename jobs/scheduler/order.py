"""Who is looked at first: a total order of waiting jobs, without ties."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from jobs.scheduler.rules import Order
from jobs.scheduler.snapshot import WaitingJob

Rank = tuple[int, int, int, str]


def in_order(waiting: Iterable[WaitingJob], order: Order) -> list[WaitingJob]:
    """The jobs, first in the queue first."""
    return sorted(waiting, key=_RANKS[order])


def _by_priority(job: WaitingJob) -> Rank:
    return (job.priority_class.rank, -job.priority, job.submitted_ms, job.key)


_RANKS: dict[Order, Callable[[WaitingJob], Rank]] = {Order.PRIORITY: _by_priority}
