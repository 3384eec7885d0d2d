"""Who holds what somebody else waits for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import islice

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
        self._by_pool: defaultdict[str, list[Holding]] = defaultdict(list)
        for holding in holdings:
            self._by_pool[holding.pool].append(holding)
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
            holder for holder, holding in self._lists[pool, axis] if tenant is None or self._counts_for(holding, tenant)
        )
        return tuple(islice(counted, MOST))

    def _list(self, pool: str, axis: Axis) -> list[tuple[Holder, Holding]]:
        """All jobs of the pool on this axis in order, each with one of its holdings."""
        found: dict[str, tuple[Holder, Holding]] = {}
        for holding in self._by_pool[pool]:
            amount = sum([line.amount for line in holding.lines if line.axis == axis])
            if amount:
                known = found.get(holding.job)
                ends = holding.ends_ms if known is None else _later(known[0].ends_ms, holding.ends_ms)
                held = amount if known is None else amount + known[0].amount
                found[holding.job] = (Holder(holding.job, held, ends), holding)
        return sorted(found.values(), key=lambda pair: _first_to_end(pair[0]))

    def _counts_for(self, holding: Holding, tenant: str) -> bool:
        return holding.state in HOLDS_QUOTA and tenant in self._book.path(holding.tenant)


def _later(one: int | None, other: int | None) -> int | None:
    """The later of two ends, where None is never."""
    return None if one is None or other is None else max(one, other)


def _first_to_end(holder: Holder) -> tuple[bool, int, str]:
    return (holder.ends_ms is None, holder.ends_ms or 0, holder.job)
