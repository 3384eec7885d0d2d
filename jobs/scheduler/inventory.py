"""What could never start: demands that are wrong, or larger than the inventory even when all of it is free."""

from __future__ import annotations

from jobs.reasons import Reason
from jobs.scheduler.block import Block, Words
from jobs.scheduler.demand import Demand
from jobs.scheduler.fit import Fits, Labels, Scope
from jobs.scheduler.snapshot import Axis, Line, Pool, Resource
from jobs.scheduler.world import Site, World


class Inventory:
    """All hosts and devices as if free, in service and fresh. Answers are kept per demand, pool and labels.

    For a job of one pod set the answer is exact. For several it is that of the same placement that admits, which
    tries a few orders of the pod sets: so what it calls impossible would not be placed on the empty pool either.
    """

    def __init__(self, world: World, words: Words) -> None:
        self._words = words
        self._world = world.emptied()
        self._fits = Fits(self._world, stale=frozenset())
        self._known: dict[tuple[Demand, str, Labels, str | None], Block | None] = {}
        self._valid: dict[Demand, Block | None] = {}

    def invalid(self, demand: Demand) -> Block | None:
        """A demand for nothing, a class that does not exist, or an amount of devices that cannot be given."""
        if demand not in self._valid:
            self._valid[demand] = self._invalid(demand)
        return self._valid[demand]

    def _invalid(self, demand: Demand) -> Block | None:
        if not demand.total or any(part.replicas < 0 for part in demand.parts):
            return Block(Reason.EMPTY_DEMAND, {})
        return next((block for line in demand.lines if (block := self._invalid_line(line))), None)

    def _invalid_line(self, line: Line) -> Block | None:
        axis, amount = line
        if amount < 0:
            return Block(Reason.EMPTY_DEMAND, {}, axis)
        kind = self._words.classes.get(axis.class_key)
        if kind is None or kind.resource is not axis.resource:
            return Block(Reason.CLASS_NOT_FOUND, {"class_key": axis.class_key}, axis)
        if axis.resource is not Resource.DEVICE or amount % kind.whole == 0:
            return None
        if amount < kind.whole and kind.divisible:
            return None
        return Block(Reason.DEVICE_AMOUNT, self._words.amounts(axis, need=amount), axis)

    def never(self, demand: Demand, pool: Pool, labels: Labels, host: str | None = None) -> Block | None:
        """Why the demand cannot be placed even on the empty pool, or on that host of it; None when it can."""
        key = (demand, pool.key, labels, host)
        if key not in self._known:
            self._known[key] = self._never(demand, pool, Scope(labels, (), stale_too=True, blocked_too=True, host=host))
        return self._known[key]

    def _never(self, demand: Demand, pool: Pool, scope: Scope) -> Block | None:
        # The single amounts first, in Python's integers: what passes them also fits into those of the arrays.
        too_large = (
            self._no_host(demand, pool) or self._above_largest_node(demand, pool) or self._above_total(demand, pool)
        )
        if too_large is not None:
            return too_large
        if self._fit_somewhere(demand, pool, scope):
            return None
        unlabelled = scope._replace(labels=())
        if scope.labels and self._fit_somewhere(demand, pool, unlabelled):
            return self._labels_unmatched(pool, scope.labels)
        return self._above_room(demand, pool, unlabelled)

    def _sites(self, pool: Pool) -> tuple[Site, ...]:
        return self._world.sites.get(pool.key, ())

    def _fit_somewhere(self, demand: Demand, pool: Pool, scope: Scope) -> bool:
        return any(self._fits.fits(site, scope, demand) for site in self._sites(pool))

    def _labels_unmatched(self, pool: Pool, labels: Labels) -> Block:
        hosts = [set(h.labels) for site in self._sites(pool) for h in self._world.hosts[site.rows]]
        carried = {label: sum(label in host for host in hosts) for label in labels}
        name, value = min(carried, key=lambda label: (carried[label], label))
        match = sum(host.issuperset(labels) for host in hosts)
        facts = {"match": match, "nodes": len(hosts), "k": len(labels), "label": f"{name}={value}"}
        return Block(Reason.LABELS_UNMATCHED, {"pool": pool.name, **facts})

    def _most(self, axis: Axis, pool: Pool, *, in_all: bool) -> int:
        """The most of an axis that one host of the pool has, or one cluster `in_all`."""
        column = self._world.column.get(axis)
        if column is None:
            return 0
        columns = [self._world.total[site.rows, column] for site in self._sites(pool)]
        return max((int(values.sum() if in_all else values.max()) for values in columns), default=0)

    def _no_host(self, demand: Demand, pool: Pool) -> Block | None:
        for axis, need in demand.total:
            if not self._most(axis, pool, in_all=False):
                facts = {"pool": pool.name, **self._words.shortage(axis, need, 0)}
                return Block(Reason.NO_HOST_OF_CLASS, facts, axis)
        return None

    def _above_largest_node(self, demand: Demand, pool: Pool) -> Block | None:
        return self._above(Reason.ABOVE_LARGEST_NODE, demand.lines, pool, in_all=False)

    def _above_total(self, demand: Demand, pool: Pool) -> Block | None:
        return self._above(Reason.ABOVE_POOL_TOTAL, demand.total, pool, in_all=True)

    def _above(self, reason: Reason, lines: tuple[Line, ...], pool: Pool, *, in_all: bool) -> Block | None:
        for axis, need in lines:
            most = self._most(axis, pool, in_all=in_all)
            if need > most:
                facts = {"pool": pool.name, **self._words.shortage(axis, need, most, max=most)}
                return Block(reason, facts, axis)
        return None

    def _above_room(self, demand: Demand, pool: Pool, scope: Scope) -> Block:
        ready = max(
            (sum(self._fits.ready(site, scope, part) for part in demand.parts) for site in self._sites(pool)),
            default=0,
        )
        ready = min(ready, demand.replicas - 1)  # pod sets that each fit alone, but not together
        numbers = {"need": demand.replicas, "have": ready, "short_by": demand.replicas - ready}
        return Block(
            Reason.ABOVE_POOL_ROOM,
            {"pool": pool.name, "ready": ready, "count": demand.replicas, **numbers},
        )
