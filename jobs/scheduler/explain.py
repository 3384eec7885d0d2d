"""Why a demand that could be placed is not placed now, in the order of what would have to change first."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from jobs.reasons import Reason
from jobs.scheduler.block import Block, Words
from jobs.scheduler.demand import Demand, Part
from jobs.scheduler.fit import Fits, Scope
from jobs.scheduler.snapshot import Axis, Cluster, Host, Pool, Resource, Snapshot
from jobs.scheduler.world import Ints, Site, World


class Placements:
    """The explanations of one pass, on the world as the pass leaves it; one per demand, pool and scope.

    `before` is the world as the pass found it.
    """

    def __init__(self, snapshot: Snapshot, words: Words, now: Fits, before: Fits) -> None:
        self._words = words
        self._now, self._before = now, before
        self._clusters = {cluster.key: cluster for cluster in snapshot.clusters}
        self._known: dict[tuple[Demand, str, Scope], Block] = {}

    def why_not(self, demand: Demand, pool: Pool, scope: Scope) -> Block:
        """Why the demand does not fit in the pool now."""
        key = (demand, pool.key, scope)
        if key not in self._known:
            block = self._behind_others(demand, pool, scope) or self._out_of_use(demand, pool, scope)
            self._known[key] = block or self._busy(demand, pool, scope)
        return self._known[key]

    @cached_property
    def _mended(self) -> Fits:
        if not any(table.broken.any() for table in self._now.world.tables.values()):
            return self._now
        return Fits(self._now.world.mended(), self._now.stale)

    def _sites(self, pool: Pool) -> tuple[Site, ...]:
        return self._now.world.sites.get(pool.key, ())

    def _fit_somewhere(self, fits: Fits, demand: Demand, pool: Pool, scope: Scope) -> bool:
        return any(fits.fits(site, scope, demand) for site in self._sites(pool))

    def _behind_others(self, demand: Demand, pool: Pool, scope: Scope) -> Block | None:
        # The present is asked as well: with several pod sets, what failed earlier in the pass may fit by now.
        if not any(self._fit_somewhere(fits, demand, pool, scope) for fits in (self._before, self._now)):
            return None
        axis, need, have = self._scarcest(demand, self._best_site(demand, pool, scope), scope)
        facts = {"pool": pool.name, **self._words.shortage(axis, need, min(have, need))}
        return Block(Reason.BEHIND_OTHERS, facts, axis)

    # -- out of use: it would fit if stale, blocked, broken or excluded hosts could be used ----------------------

    def _out_of_use(self, demand: Demand, pool: Pool, scope: Scope) -> Block | None:
        stale = scope._replace(stale_too=True)
        down = scope._replace(blocked_too=True)
        allowed = scope._replace(excluded=())
        if self._fit_somewhere(self._now, demand, pool, stale):
            return self._stale(demand, pool, stale)
        if self._fit_somewhere(self._mended, demand, pool, down):
            return self._unavailable(demand, pool, scope)
        if scope.excluded and self._fit_somewhere(self._now, demand, pool, allowed):
            return self._excluded(pool, scope)
        if scope.drivers and self._fit_somewhere(self._now, demand, pool, scope._replace(drivers="")):
            return self._drivers(pool, scope)
        every = scope._replace(excluded=(), drivers="", stale_too=True, blocked_too=True)
        if self._fit_somewhere(self._mended, demand, pool, every):
            return self._unavailable(demand, pool, scope)
        return None

    def _stale(self, demand: Demand, pool: Pool, scope: Scope) -> Block:
        site = next(site for site in self._sites(pool) if self._now.fits(site, scope, demand))
        cluster = self._clusters.get(site.cluster, Cluster(site.cluster, site.cluster, 0))
        return Block(Reason.STALE_CLUSTER, {"cluster": cluster.name, "age": cluster.observed_ms})

    def _unavailable(self, demand: Demand, pool: Pool, scope: Scope) -> Block:
        devices = {axis.class_key for axis, _ in demand.total if axis.resource is Resource.DEVICE}
        causes: Counter[str] = Counter()
        nodes = 0
        for host in self._matching(pool, scope, devices):
            nodes += 1
            cause = _out_of_service(host, devices)
            if cause is not None:
                causes[cause] += 1
        facts = {"down": causes.total(), "nodes": nodes, "causes": tuple(sorted(causes.items()))}
        return Block(Reason.NODES_UNAVAILABLE, {"pool": pool.name, **facts})

    def _matching(self, pool: Pool, scope: Scope, devices: set[str]) -> list[Host]:
        """The pool's hosts that carry the labels and, if any are asked for, have such devices."""
        hosts = [host for site in self._sites(pool) for host in self._now.world.hosts[site.rows]]
        return [
            host
            for host in hosts
            if set(scope.labels).issubset(host.labels)
            and scope.host in (None, host.key)
            and (not devices or any(device.class_key in devices for device in host.devices))
        ]

    def _drivers(self, pool: Pool, scope: Scope) -> Block:
        hosts = self._matching(pool, scope, set(scope.classes))
        outside = sum(not scope.takes_driver(host) for host in hosts)
        facts = {"pool": pool.name, "runtime": scope.runtime, "down": outside, "nodes": len(hosts)}
        return Block(Reason.DRIVERS_OUTSIDE, facts)

    def _excluded(self, pool: Pool, scope: Scope) -> Block:
        keys = {host.key for site in self._sites(pool) for host in self._now.world.hosts[site.rows]}
        facts = {"down": len(keys & set(scope.excluded)), "nodes": len(keys)}
        return Block(Reason.HOSTS_EXCLUDED, {"pool": pool.name, **facts})

    # -- busy: it fits nowhere with what is free -------------------------------------------------------------------

    def _best_site(self, demand: Demand, pool: Pool, scope: Scope) -> Site:
        """The site that could take most of the replicas now, the first of equal ones."""
        return max(
            self._sites(pool),
            key=lambda site: sum(self._now.ready(site, scope, part) for part in demand.parts),
        )

    def _busy(self, demand: Demand, pool: Pool, scope: Scope) -> Block:
        site = self._best_site(demand, pool, scope)
        axis, need, have = self._scarcest(demand, site, scope)
        if have < need:
            return self._too_little(pool, site, scope, axis, need, have)
        ready = [self._now.ready(site, scope, part) for part in demand.parts]
        for part, fitting in zip(demand.parts, ready, strict=True):
            if not fitting:
                return self._no_node(part, pool, site, scope)
        together = min(sum(ready), demand.replicas - 1)  # each pod set may fit alone, but not beside the others
        facts = {"ready": together, "min": demand.replicas, "need": demand.replicas, "have": together}
        short = {"short_by": demand.replicas - together, "pool": pool.name}
        return Block(Reason.GANG_INCOMPLETE, {**facts, **short}, axis)

    def _scarcest(self, demand: Demand, site: Site, scope: Scope) -> tuple[Axis, int, int]:
        """The axis that lacks the largest share of what the whole job needs there; need and free amount."""
        shares = []
        for axis, need in demand.total:
            shared = any(_is_part(self._now.world, a, amount) for a, amount in demand.lines if a == axis)
            have = int(self._usable(site, scope, axis, shared).sum())
            shares.append((Fraction(have, need), axis, need, have))
        _, axis, need, have = min(shares)
        return axis, need, have

    def _usable(self, site: Site, scope: Scope, axis: Axis, shared: bool) -> Ints:
        """int64[host of the site]: what is free on each host let in, of devices only whole ones unless shared."""
        world, mask = self._now.world, self._now.mask(site, scope)
        table = world.tables.get(axis)
        if table is not None and not shared:
            return table.room(site.rows, table.whole) * table.whole * mask
        return np.maximum(world.free[site.rows, world.column[axis]], 0) * mask

    def _too_little(self, pool: Pool, site: Site, scope: Scope, axis: Axis, need: int, have: int) -> Block:
        world = self._now.world
        in_parts = int(self._usable(site, scope, axis, shared=True).sum())
        if in_parts >= need:
            facts = self._words.shortage(axis, need, have, free=in_parts, best=have)
            return Block(Reason.NO_WHOLE_DEVICE, {"pool": pool.name, **facts}, axis)
        total = int((world.total[site.rows, world.column[axis]] * self._now.mask(site, scope)).sum())
        facts = self._words.shortage(axis, need, have, free=have, total=total)
        return Block(Reason.INSUFFICIENT_CAPACITY, {"pool": pool.name, **facts}, axis)

    def _no_node(self, part: Part, pool: Pool, site: Site, scope: Scope) -> Block:
        for axis, need in sorted(part.lines, key=lambda line: line.axis.resource is not Resource.DEVICE):
            usable = self._usable(site, scope, axis, _is_part(self._now.world, axis, need))
            best = int(usable.max())
            if 0 < best < need:
                numbers = {"free": int(usable.sum()), "best": best, "alt_need": best}
                facts = self._words.shortage(axis, need, best, **numbers)
                facts |= {"nodes": int((usable > 0).sum()), "pool": pool.name}
                return Block(Reason.FRAGMENTED, facts, axis)
        return self._no_common_node(part, pool, site, scope)

    def _no_common_node(self, part: Part, pool: Pool, site: Site, scope: Scope) -> Block:
        world, mask = self._now.world, self._now.mask(site, scope)
        lacking: dict[str, Any] = {"pods": world.slots[site.rows] < 1}
        for line in part.lines:
            lacks = np.less(world.line_room(site.rows, *line), 1)
            lacking[line.axis.resource] = lacking.get(line.axis.resource, False) | lacks
        counts = {str(cause): int((lacks * mask).sum()) for cause, lacks in lacking.items()}
        causes = tuple(sorted((cause, count) for cause, count in counts.items() if count))
        facts = {"pool": pool.name, "nodes": int(mask.sum()), "causes": causes}
        return Block(Reason.NO_NODE_FITS, {**facts, "need": 1, "have": 0, "short_by": 1})


def _is_part(world: World, axis: Axis, amount: int) -> bool:
    """Whether an amount is a part of one device (or no device at all)."""
    table = world.tables.get(axis)
    return table is None or amount % table.whole != 0


def _out_of_service(host: Host, devices: set[str]) -> str | None:
    """Why a host, or some of its wanted devices, cannot be used."""
    if host.blocked is not None:
        return host.blocked
    broken = any(not device.healthy for device in host.devices if device.class_key in devices)
    return "devices" if broken else None
