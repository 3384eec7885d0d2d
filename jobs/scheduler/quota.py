"""The quota tree: what every tenant holds, what it may still take, and whose rule says no.

For every pool and axis a node *owns* `nominal`, of which `guarantee` is never lent, and may reach `ceiling`. A
node is charged at its parent with the larger of what its subtree is charged and its guarantee (Kueue: lending
limit = nominal - guarantee, borrowing limit = ceiling - nominal). Admitting asks every node up to the root:

* nobody passes a ceiling;
* nobody passes its nominal quota where the pool does not lend, nor does the root: it has nobody to borrow from;
* in a lending pool under a root without nominal quota, the topmost nodes that have some together stay within the
  sum of it.

None is "no rule" at that node, 0 is "none allowed".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from copy import copy
from typing import NamedTuple

from jobs.reasons import Reason
from jobs.scheduler.block import Block, Words
from jobs.scheduler.snapshot import Axis, Line, QuotaCell, Snapshot, Tenant
from jobs.states import HOLDS_QUOTA


class _Group:
    """What the topmost owners under a root without nominal quota own, and are charged, together."""

    __slots__ = ("charged", "owned")

    def __init__(self) -> None:
        self.owned = self.charged = 0


class _Node:
    """One tenant on one axis of one pool: its rule, what it is charged and what it really holds."""

    __slots__ = ("ceiling", "charged", "floor", "nominal", "owns", "tenant", "used")

    def __init__(self, tenant: str, cell: QuotaCell | None, lends: bool) -> None:
        """`nominal` is a bound only where the tenant may not borrow."""
        self.tenant = tenant
        self.floor = 0 if cell is None or cell.guarantee is None else cell.guarantee
        self.owns = cell is not None and cell.nominal is not None
        self.nominal = None if cell is None or lends else cell.nominal
        self.ceiling = None if cell is None else cell.ceiling
        self.charged = self.used = 0

    def copy(self) -> _Node:
        """One more of the same; quicker than the library's, and a fork makes many."""
        twin = _Node.__new__(_Node)
        twin.tenant, twin.floor, twin.owns = self.tenant, self.floor, self.owns
        twin.nominal, twin.ceiling = self.nominal, self.ceiling
        twin.charged, twin.used = self.charged, self.used
        return twin

    def passed_on(self, extra: int) -> int:
        """What the parent is charged when this node is charged `extra` more: its guarantee is so already."""
        return max(self.floor, self.charged + extra) - max(self.floor, self.charged)


class _Chain(NamedTuple):
    """A tenant and all above it on one axis of one pool; `group` bounds what `top` passes on."""

    nodes: tuple[_Node, ...]
    top: _Node | None  # the owner nearest the root
    group: _Group | None


class _Limit(NamedTuple):
    """The bound that a node, or the group under the root, would pass."""

    tenant: str
    amount: int
    charged: int  # before the job, guarantees of others included
    used: int  # before the job, what is really held
    extra: int  # of the job, after what guarantees on the way absorb
    reason: Reason


class QuotaBook:
    """Quota in use at every node; `charge` and `check` cost one walk to the root per axis."""

    def __init__(self, snapshot: Snapshot, words: Words, *, unused: bool = False) -> None:
        """The book of all holdings that count; `unused`: as if nobody held anything."""
        self._words = words
        self._names = {tenant.key: tenant.name for tenant in snapshot.tenants}
        self._pools = {pool.key: pool.name for pool in snapshot.pools}
        self._paths = _paths(snapshot.tenants)
        self._cells = {(cell.tenant, cell.pool, cell.axis): cell for cell in snapshot.cells}
        self._lending = {pool.key for pool in snapshot.pools if pool.borrowing}
        self._nodes: dict[tuple[str, str, Axis], _Node] = {}
        self._groups: dict[tuple[str, str, Axis], _Group] = {}
        self._chains: dict[tuple[str, str, Axis], _Chain] = {}
        self._count_guarantees()
        self._count_groups()
        if not unused:
            self._count_holdings(snapshot)

    def fork(self) -> QuotaBook:
        """An independent book that begins as this one is."""
        twin = QuotaBook.__new__(QuotaBook)
        twin.__dict__.update(self.__dict__)
        twin._nodes = {key: node.copy() for key, node in self._nodes.items()}
        twin._groups = {key: copy(group) for key, group in self._groups.items()}
        twin._chains = {}  # they point to nodes
        return twin

    def path(self, tenant: str) -> tuple[str, ...]:
        """The tenant and all above it, the root last; of an unknown tenant itself alone."""
        return self._paths.get(tenant, (tenant,))

    def name(self, tenant: str) -> str:
        """What people call the tenant."""
        return self._names.get(tenant, tenant)

    def held(self, tenant: str, pool: str, axis: Axis) -> tuple[int, int | None, int | None]:
        """What the tenant's subtree holds of one axis, and its guarantee and nominal quota where it has a rule."""
        cell = self._cells.get((tenant, pool, axis))
        used = self._node(tenant, pool, axis).used
        return (used, None, None) if cell is None else (used, cell.guarantee, cell.nominal)

    def charge(self, tenant: str, pool: str, lines: Iterable[Line], sign: int = 1) -> None:
        """Count these lines as held by the tenant (-1: as given back)."""
        for axis, amount in lines:
            nodes, top, group = self._chain(tenant, pool, axis)
            extra = sign * amount
            for node in nodes:
                passed_on = node.passed_on(extra)
                node.used += sign * amount
                node.charged += extra
                extra = passed_on
                if node is top and group is not None:
                    group.charged += extra

    def check(self, tenant: str, pool: str, lines: Iterable[Line]) -> Block | None:
        """What stops the tenant from holding these lines as well; None when nothing does."""
        for axis, amount in lines:
            limit = self._first_limit(tenant, pool, axis, amount)
            if limit is not None:
                return self._wait(limit, pool, axis, amount)
        return None

    def allows(self, tenant: str, pool: str, lines: Iterable[Line]) -> bool:
        """Whether `check` would find nothing."""
        return all(self._first_limit(tenant, pool, axis, amount) is None for axis, amount in lines)

    def check_ever(self, tenant: str, pool: str, lines: Iterable[Line]) -> Block | None:
        """As `check`, in the words of "never": only right on a book made with `unused`."""
        for axis, amount in lines:
            limit = self._first_limit(tenant, pool, axis, amount)
            if limit is not None:
                return self._never(limit, pool, axis, amount)
        return None

    def _first_limit(self, tenant: str, pool: str, axis: Axis, amount: int) -> _Limit | None:
        nodes, top, group = self._chain(tenant, pool, axis)
        extra = amount
        for node in nodes:
            after = node.charged + extra
            if node.ceiling is not None and after > node.ceiling:
                return _limit(node, node.ceiling, extra, Reason.CEILING_REACHED)
            if node.nominal is not None and after > node.nominal:
                return _limit(node, node.nominal, extra, Reason.QUOTA_FULL)
            extra = node.passed_on(extra)
            if node is top and group is not None and group.charged + extra > group.owned:
                root = nodes[-1]
                reason = Reason.NOTHING_TO_BORROW
                return _Limit(root.tenant, group.owned, group.charged, root.used, extra, reason)
        return None

    def _node(self, tenant: str, pool: str, axis: Axis) -> _Node:
        key = (tenant, pool, axis)
        if key not in self._nodes:
            may_borrow = pool in self._lending and self.path(tenant)[-1] != tenant
            self._nodes[key] = _Node(tenant, self._cells.get(key), may_borrow)
        return self._nodes[key]

    def _chain(self, tenant: str, pool: str, axis: Axis) -> _Chain:
        key = (tenant, pool, axis)
        known = self._chains.get(key)
        if known is None:
            nodes = tuple(self._node(above, pool, axis) for above in self.path(tenant))
            top = next((node for node in reversed(nodes) if node.owns), None)
            group = self._groups.get((nodes[-1].tenant, pool, axis)) if top else None
            known = self._chains[key] = _Chain(nodes, top, group)
        return known

    def _count_guarantees(self) -> None:
        """Charge every guarantee at the parents, deepest first, as far as deeper ones do not fill it."""
        owners = [key for key, cell in self._cells.items() if cell.guarantee]
        for key in sorted(owners, key=lambda key: (-len(self.path(key[0])), key)):
            tenant, pool, axis = key
            node = self._node(*key)
            extra = max(0, node.floor - node.charged)
            for above in self.path(tenant)[1:]:
                self._node(above, pool, axis).charged += extra

    def _count_groups(self) -> None:
        """Make the groups of lending pools, with the guarantees their members are charged for."""
        for key, cell in self._cells.items():
            tenant, pool, axis = key
            above = [self._node(t, pool, axis) for t in self.path(tenant)[1:]]
            if cell.nominal is None or pool not in self._lending or not above or any(n.owns for n in above):
                continue
            group = self._groups.setdefault((above[-1].tenant, pool, axis), _Group())
            group.owned += cell.nominal
            group.charged += max(self._node(*key).floor, self._node(*key).charged)

    def _count_holdings(self, snapshot: Snapshot) -> None:
        sums: Counter[tuple[str, str, Axis]] = Counter()
        for holding in snapshot.holdings:
            if holding.state in HOLDS_QUOTA:
                for axis, amount in holding.lines:
                    sums[holding.tenant, holding.pool, axis] += amount
        for (tenant, pool, axis), amount in sums.items():
            self.charge(tenant, pool, (Line(axis, amount),))

    def _wait(self, limit: _Limit, pool: str, axis: Axis, need: int) -> Block:
        name = self.name(limit.tenant)
        have = max(0, _left(limit, need))
        idle = max(0, limit.amount - limit.used)
        facts = {"pool": self._pools.get(pool, pool), **self._words.shortage(axis, need, have)}
        if limit.used + need <= limit.amount:
            return Block(Reason.LENDER_KEEPS, {**facts, "group": name, "idle": idle}, axis, limit.tenant)
        if limit.reason is Reason.NOTHING_TO_BORROW:
            return Block(limit.reason, {**facts, "group": name, "idle": have}, axis, limit.tenant)
        bound = "nominal" if limit.reason is Reason.QUOTA_FULL else "max"
        facts |= {"project": name, "used": limit.used, bound: limit.amount}
        return Block(limit.reason, facts, axis, limit.tenant)

    def _never(self, limit: _Limit, pool: str, axis: Axis, need: int) -> Block:
        most = max(0, _left(limit, need))
        facts = self._words.shortage(axis, need, most, max=most)
        facts |= {"project": self.name(limit.tenant), "pool": self._pools.get(pool, pool)}
        is_root = limit.tenant == self.path(limit.tenant)[-1]
        by_nominal = limit.reason is Reason.QUOTA_FULL and not is_root
        reason = Reason.BORROWING_OFF if by_nominal else Reason.ABOVE_CEILING
        return Block(reason, facts, axis, limit.tenant)


def _limit(node: _Node, amount: int, extra: int, reason: Reason) -> _Limit:
    return _Limit(node.tenant, amount, node.charged, node.used, extra, reason)


def _left(limit: _Limit, need: int) -> int:
    """How large a demand could be here: guarantees on the way absorb the part of it that is not `extra`."""
    return limit.amount - limit.charged + need - limit.extra


def _paths(tenants: tuple[Tenant, ...]) -> dict[str, tuple[str, ...]]:
    """Every tenant's way to its root. Raises ValueError on a circle, which would have no root."""
    parents = {tenant.key: tenant.parent for tenant in tenants}
    return {tenant: tuple(_way_up(tenant, parents)) for tenant in parents}


def _way_up(tenant: str, parents: dict[str, str | None]) -> Iterator[str]:
    seen = set()
    above: str | None = tenant
    while above is not None:
        if above in seen:
            raise ValueError(f"tenant {above} is its own ancestor")
        seen.add(above)
        yield above
        above = parents.get(above)
