"""The largest job that would start now in a pool, by class: the scheduler's own arithmetic."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import prefetch_related_objects

from jobs.scheduler.fit import Fits, Scope
from jobs.scheduler.snapshot import Axis, Line, Resource, Snapshot
from jobs.scheduler.world import Site, World
from jobs.selectors.snapshot import fleet_of
from resources.models import Node, Pool

MOST_DEVICES = 1_024
_BESIDE = (Line(Axis("cpu", Resource.CPU), 1), Line(Axis("memory", Resource.MEMORY), 1))


@dataclass(frozen=True, slots=True)
class Startable:
    """Of one class: whole devices free on one node, and of several nodes of one cluster as many members as can have
    the most each (0: no two nodes have any). Quota, priority and the queue may still hold a job back."""

    class_key: str
    single: int
    members: int
    each: int

    @property
    def total(self) -> int:
        """Devices of the job over several nodes."""
        return self.members * self.each


def startable_in(pool: Pool, nodes: Sequence[Node], now: datetime) -> list[Startable]:
    """By class, of those with a device on the pool's nodes; what is stale, held back or used by others gives nothing.

    The nodes are those of `nodes_of_pools`. Four queries at most.
    """
    return startable_by_pool([pool], nodes, now).get(pool.key, [])


def startable_by_pool(pools: Sequence[Pool], nodes: Sequence[Node], now: datetime) -> dict[str, list[Startable]]:
    """The same of several pools at once, by their keys; as many queries."""
    of = {pool.pk: pool for pool in pools}
    mine = [node for node in nodes if node.pool_id is not None and node.pool_id in of]
    for node in mine:
        assert node.pool_id is not None
        node.pool = of[node.pool_id]
    prefetch_related_objects(mine, "groups__devices")
    snapshot = fleet_of(mine, now)
    world = World.of(snapshot)
    stale = frozenset(cluster.key for cluster in snapshot.clusters if cluster.stale)
    fits = Fits(world, stale)
    return {
        pool.key: [
            _startable(fits, list(world.sites.get(pool.key, ())), key, whole)
            for key, whole in _classes_in(snapshot, pool.key)
        ]
        for pool in pools
    }


def _classes_in(snapshot: Snapshot, pool: str) -> list[tuple[str, int]]:
    there = {device.class_key for host in snapshot.hosts if host.pool == pool for device in host.devices}
    return [(row.key, row.whole) for row in snapshot.classes if row.key in there]


def _startable(fits: Fits, sites: Sequence[Site], key: str, whole: int) -> Startable:
    """Room only shrinks with the size of a member: the search stops at the first size nothing has room for."""
    single = members = each = 0
    for count in range(1, MOST_DEVICES + 1):
        lines = (*_BESIDE, Line(Axis(key, Resource.DEVICE), count * whole))
        rooms = [fits.room(site, Scope(), lines) for site in sites]
        if not any(room.any() for room in rooms):
            break
        single = count
        several = max((int(room.sum()) for room in rooms if int((room > 0).sum()) > 1), default=0)
        if several:
            members, each = several, count
    return Startable(key, single, members, each)
