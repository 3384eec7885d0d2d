"""What is said to a job that would have room and quota, were they not kept for one before it."""

from __future__ import annotations

from jobs.reasons import Reason
from jobs.scheduler.block import Block, Words
from jobs.scheduler.reserve import Reservation
from jobs.scheduler.snapshot import Resource

KEPT = frozenset({Reason.KEPT_FOR_EARLIER, Reason.NO_RUN_LIMIT, Reason.KEPT_WITHOUT_TIME})
_TELLING = (Resource.DEVICE, Resource.CPU, Resource.MEMORY, Resource.STORAGE)


def kept_block(kept: Reservation, words: Words, limit_ms: int | None, now_ms: int) -> Block:
    """Why a job with this limit may not take what is kept; the amount is the first one people would name."""
    axis, amount = min(kept.way.demand.total, key=lambda line: (_TELLING.index(line.axis.resource), line.axis))
    facts = {"pool": kept.way.pool.name, **words.amounts(axis, held=amount)}
    if kept.at_ms is None or kept.at_ms <= now_ms:  # what it waits for is being given back, and nobody knows until when
        return Block(Reason.KEPT_WITHOUT_TIME, facts, axis)
    reason = Reason.NO_RUN_LIMIT if limit_ms is None else Reason.KEPT_FOR_EARLIER
    return Block(reason, {**facts, "t": kept.at_ms, "gap": kept.at_ms - now_ms}, axis)
