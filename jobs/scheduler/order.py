"""Who is looked at first: a total order of waiting jobs, without ties, that follows what the pass gives out.

Class first. Then, in each pool, the tenant whose share would be the smallest with its next job counted in, at every
level of the tree; then priority with age, submission and key. Pools do not compete: the job that is first by
priority, submission and key among their heads goes next.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush, heapreplace
from operator import itemgetter

from jobs.scheduler.rules import Order, Rules
from jobs.scheduler.shape import Shape
from jobs.scheduler.share import Shares
from jobs.scheduler.snapshot import WaitingJob

Rank = tuple[int, int, str]  # less is earlier: priority with age, submission, key
Turn = tuple[Rank, WaitingJob, Shape]
_rank = itemgetter(0)


def rank(job: WaitingJob, at_ms: int, rules: Rules) -> Rank:
    """The place of a job within its class and tenant."""
    aged = min(rules.aging_cap, max(0, at_ms - job.submitted_ms) // rules.aging_step_ms) if rules.aging_cap else 0
    return (-job.priority - aged, job.submitted_ms, job.key)


class Turns:
    """The jobs of one pass in their order, each with its shape."""

    def __init__(self, jobs: Iterable[tuple[WaitingJob, Shape]], shares: Shares, at_ms: int, rules: Rules) -> None:
        self._shares = shares
        self._fair = rules.order is Order.FAIR_SHARE
        self._bands: defaultdict[int, list[Turn]] = defaultdict(list)
        for job, shape in jobs:
            self._bands[job.priority_class.rank].append((rank(job, at_ms, rules), job, shape))
        self._trees: dict[str, _Tree] = {}

    def __iter__(self) -> Iterator[tuple[WaitingJob, Shape]]:
        for band in sorted(self._bands):
            turns = sorted(self._bands[band], key=_rank)
            for _, job, shape in self._by_share(turns) if self._fair else turns:
                yield job, shape

    def charged(self, tenant: str, pool: str) -> None:
        """Tell that the tenant holds more, or less, in the pool than before."""
        self._shares.changed(tenant, pool)
        if pool in self._trees:
            self._trees[pool].again(tenant)

    def _by_share(self, turns: list[Turn]) -> Iterator[Turn]:
        self._trees = {}
        for turn in turns:
            shape = turn[2]
            pool = shape.open_ways[0].pool.key if shape.open_ways else ""
            if pool not in self._trees:
                self._trees[pool] = _Tree(pool, self._shares)
            self._trees[pool].add(turn)
        heads: list[tuple[Rank, str]] = []
        for pool, tree in self._trees.items():
            tree.ready()
            heappush(heads, (tree.first(), pool))
        while heads:
            was, pool = heappop(heads)
            tree = self._trees[pool]
            if tree.stale:  # another pool's job took something here since
                tree.settle()
                if tree.first() != was:
                    heappush(heads, (tree.first(), pool))
                    continue
            yield tree.next()
            tree.settle()
            if tree.turns:
                heappush(heads, (tree.first(), pool))


class _Node:
    """A tenant of one pool's tree. `best`: the turn it would take next, None when it has none."""

    __slots__ = ("best", "children", "parent", "queue", "tenant", "version")

    def __init__(self, tenant: str, parent: _Node | None) -> None:
        self.tenant, self.parent = tenant, parent
        self.queue: list[Turn] = []  # last is next
        self.children: list[tuple[tuple[int, int], Rank, str, int, _Node]] = []
        self.best: Turn | None = None
        self.version = 0


class _Tree:
    """The waiting jobs of one pool and class by tenant."""

    def __init__(self, pool: str, shares: Shares) -> None:
        self._pool, self._shares = pool, shares
        self._root = _Node("", None)
        self._nodes: dict[str, _Node] = {}
        self.stale: dict[str, None] = {}
        self.turns = 0

    def add(self, turn: Turn) -> None:
        """Add a turn; those of one tenant come in order."""
        self._node(turn[1].tenant).queue.append(turn)
        self.turns += 1

    def ready(self) -> None:
        """Call once, when all are added."""
        leaves = [node for node in self._nodes.values() if node.queue]
        for node in leaves:
            node.queue.reverse()
        for node in leaves:
            self._renew(node)

    def first(self) -> Rank:
        """The rank of the next turn."""
        assert self._root.best is not None
        return self._root.best[0]

    def next(self) -> Turn:
        """The next turn, taken out."""
        turn = self._root.best
        assert turn is not None
        self._nodes[turn[1].tenant].queue.pop()
        self.stale[turn[1].tenant] = None
        self.turns -= 1
        return turn

    def again(self, tenant: str) -> None:
        """Look at the tenant's share anew before the next turn."""
        self.stale[tenant] = None

    def settle(self) -> None:
        """Bring the order up to date with what was taken since the last turn."""
        for tenant in self.stale:
            for above in self._shares.path(tenant):
                if above in self._nodes:
                    self._renew(self._nodes[above])
                    break
        self.stale.clear()

    def _node(self, tenant: str) -> _Node:
        known = self._nodes.get(tenant)
        if known is None:
            path = self._shares.path(tenant)
            parent = self._node(path[1]) if len(path) > 1 else self._root
            known = self._nodes[tenant] = _Node(tenant, parent)
        return known

    def _renew(self, node: _Node) -> None:
        """Find what a tenant and all above it would do next."""
        while True:
            node.best = _earliest(node)
            if node.parent is None:
                return
            node.version += 1
            if node.best is not None:
                standing = self._shares.of(node.tenant, self._pool, node.best[2])
                entry = (standing, node.best[0], node.tenant, node.version, node)
                others = node.parent.children
                if others and others[0][4] is node:
                    heapreplace(others, entry)
                else:
                    heappush(others, entry)
            node = node.parent


def _earliest(node: _Node) -> Turn | None:
    """The tenant's own next job, or that of the child with the smallest share."""
    children = node.children
    while children and children[0][3] != children[0][4].version:
        heappop(children)
    below = children[0][4].best if children else None
    own = node.queue[-1] if node.queue else None
    if own is None or below is None:
        return own or below
    return min(own, below, key=_rank)
