"""How much of its due a tenant has: the number by which tenants take turns and take back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from jobs.scheduler.quota import QuotaBook
from jobs.scheduler.shape import Shape
from jobs.scheduler.snapshot import Axis, Line, Snapshot
from jobs.scheduler.world import World

WHOLE = 1_000_000
"""The share of one who holds exactly what is normally theirs."""
ENDLESS = 1 << 60
"""The share of one who holds something where nothing is theirs."""
Standing = tuple[int, int]  # share in millionths, and what was used before, which decides between equal shares


class Shares:
    """Shares in every pool, kept until `changed` says that a tenant holds something else.

    The share of a tenant is the largest over all amounts it holds, of what it holds beyond its guarantee by what is
    normally its own (nominal quota); where it has no such rule, by all there is in the pool.
    """

    def __init__(self, snapshot: Snapshot, book: QuotaBook, world: World) -> None:
        self._book = book
        self._totals: dict[tuple[str, Axis], int] = {}
        self._axes: dict[str, list[Axis]] = {}
        for pool, sites in world.sites.items():
            for axis, column in world.column.items():
                self._totals[pool, axis] = sum(int(world.total[site.rows, column].sum()) for site in sites)
            self._axes[pool] = [axis for axis in world.axes if self._totals[pool, axis]]
        self._spent: Counter[tuple[str, str]] = Counter()
        for spent in snapshot.spent:
            for tenant in book.path(spent.tenant):
                self._spent[tenant, spent.pool] += spent.amount
        self._known: dict[tuple[str, str], dict[Shape | None, Standing]] = {}

    def path(self, tenant: str) -> tuple[str, ...]:
        """The tenant and all above it, the root last."""
        return self._book.path(tenant)

    def of(self, tenant: str, pool: str, shape: Shape | None = None) -> Standing:
        """The tenant's standing in the pool as it is, or as it would be with one more job of this shape."""
        known = self._known.setdefault((tenant, pool), {})
        if None not in known:
            known[None] = (self._largest(tenant, pool, ((axis, 0) for axis in self._axes.get(pool, ()))), 0)
        if shape not in known:
            lines = shape.open_ways[0].demand.total if shape and shape.open_ways else ()
            share = max(known[None][0], self._largest(tenant, pool, lines))
            known[shape] = (share, self._spent[tenant, pool])
        return known[shape]

    def share(self, book: QuotaBook, tenant: str, pool: str, more: tuple[Line, ...] = ()) -> int:
        """The tenant's share as the book has it, with these amounts more (or, below 0, less), in millionths."""
        extra = dict(more)
        lines = ((axis, extra.get(axis, 0)) for axis in self._axes.get(pool, ()))
        return max((self._on_axis(tenant, pool, axis, amount, book) for axis, amount in lines), default=0)

    def changed(self, tenant: str, pool: str) -> None:
        """Forget the shares of a tenant that holds something else than before, and of all above it."""
        for above in self._book.path(tenant):
            self._known.pop((above, pool), None)

    def _largest(self, tenant: str, pool: str, lines: Iterable[tuple[Axis, int]]) -> int:
        return max((self._on_axis(tenant, pool, axis, extra) for axis, extra in lines), default=0)

    def _on_axis(self, tenant: str, pool: str, axis: Axis, extra: int, book: QuotaBook | None = None) -> int:
        held, guarantee, nominal = (book or self._book).held(tenant, pool, axis)
        beyond = max(0, held + extra - (guarantee or 0))
        due = self._totals.get((pool, axis), 0) if nominal is None else nominal
        return beyond * WHOLE // due if due else (ENDLESS if beyond else 0)
