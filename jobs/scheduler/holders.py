"""Who holds what somebody else waits for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import islice
from operator import attrgetter

from jobs.scheduler.block import Block
from jobs.scheduler.decision import Holder
from jobs.scheduler.quota import QuotaBook
from jobs.scheduler.snapshot import Axis, Holding
from jobs.states import HOLDS_QUOTA

MOST = 5


class Holders:
    """The jobs that hold something in each pool, the first to end first."""

    def __init__(self, holdings: Iterable[Holding], book: QuotaBook) -> None:
        self._book = book
        self._by_pool: defaultdict[str, defaultdict[str, list[Holding]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for holding in holdings:
            self._by_pool[holding.pool][holding.job].append(holding)
        self._lists: dict[tuple[str, Axis], list[tuple[Holder, Holding]]] = {}
        self._known: dict[tuple[str, Axis, str | None], tuple[Holder, ...]] = {}

    def of(self, pool: str, block: Block) -> tuple[Holder, ...]:
        """At most `MOST` jobs that hold what the block is about: for quota, those of its tenant's subtree."""
        if block.axis is None:
            return ()
        key = (pool, block.axis, block.tenant)
        if key not in self._known:
            self._known[key] = self._first(*key)
        return self._known[key]

    def _first(self, pool: str, axis: Axis, tenant: str | None) -> tuple[Holder, ...]:
        if (pool, axis) not in self._lists:
            self._lists[pool, axis] = self._list(pool, axis)
        counted = (
            holder
            for holder, holding in self._lists[pool, axis]
            if tenant is None or self._counts_for(holding, tenant)
        )
        return tuple(islice(counted, MOST))

    def _list(self, pool: str, axis: Axis) -> list[tuple[Holder, Holding]]:
        """All jobs of the pool on this axis in order, each with one of its holdings."""
        found = []
        for job, held in self._by_pool[pool].items():
            amount = sum(line.amount for holding in held for line in holding.lines if line.axis == axis)
            if amount:
                found.append((Holder(job, amount, _last_end(held)), held[0]))
        return sorted(found, key=lambda pair: _first_to_end(pair[0]))

    def _counts_for(self, holding: Holding, tenant: str) -> bool:
        return holding.state in HOLDS_QUOTA and tenant in self._book.path(holding.tenant)


def _last_end(held: list[Holding]) -> int | None:
    """When the last of a job's holdings ends, None when one has no end."""
    if any(holding.ends_ms is None for holding in held):
        return None
    return max(map(attrgetter("ends_ms"), held))


def _first_to_end(holder: Holder) -> tuple[bool, int, str]:
    return (holder.ends_ms is None, holder.ends_ms or 0, holder.job)
