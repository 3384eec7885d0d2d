"""How much of its due a tenant has: the number by which tenants take turns and take back."""

from __future__ import annotations

from collections import Counter

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
        self._due: dict[tuple[str, str], dict[Axis, tuple[int, int]]] = {}
        self._base: dict[tuple[str, str], int] = {}
        self._known: dict[tuple[str, str], dict[Shape, Standing]] = {}

    def path(self, tenant: str) -> tuple[str, ...]:
        """The tenant and all above it, the root last."""
        return self._book.path(tenant)

    def of(self, tenant: str, pool: str, shape: Shape) -> Standing:
        """The tenant's standing in the pool as it would be with one more job of this shape."""
        place = (tenant, pool)
        known = self._known.get(place)
        if known is None:
            known = self._known[place] = {}
            self._due[place] = self._dues(tenant, pool, self._book)
            self._base[place] = max((_share(*due) for due in self._due[place].values()), default=0)
        found = known.get(shape)
        if found is None:
            due, share = self._due[place], self._base[place]
            for axis, extra in shape.open_ways[0].demand.total if shape.open_ways else ():
                if axis in due:
                    beyond, whole = due[axis]
                    share = max(share, _share(beyond + extra, whole))
            found = known[shape] = (share, self._spent[place])
        return found

    def share(self, book: QuotaBook, tenant: str, pool: str, more: tuple[Line, ...] = ()) -> int:
        """The tenant's share as the book has it, with these amounts more (or, below 0, less), in millionths."""
        extra = dict(more)
        dues = self._dues(tenant, pool, book).items()
        return max((_share(beyond + extra.get(axis, 0), whole) for axis, (beyond, whole) in dues), default=0)

    def changed(self, tenant: str, pool: str) -> None:
        """Forget the shares of a tenant that holds something else than before, and of all above it."""
        for above in self._book.path(tenant):
            self._known.pop((above, pool), None)

    def _dues(self, tenant: str, pool: str, book: QuotaBook) -> dict[Axis, tuple[int, int]]:
        """What the tenant holds beyond its guarantee (below 0: less), and what is normally its own, by axis."""
        dues = {}
        for axis in self._axes.get(pool, ()):
            held, guarantee, nominal = book.held(tenant, pool, axis)
            dues[axis] = (held - (guarantee or 0), self._totals[pool, axis] if nominal is None else nominal)
        return dues


def _share(beyond: int, whole: int) -> int:
    if beyond <= 0:
        return 0
    return beyond * WHOLE // whole if whole else ENDLESS
