"""Where replicas fit and where they go: room per host, kept by shape, and the choice among hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jobs.scheduler.decision import Placement
from jobs.scheduler.demand import Demand, Part
from jobs.scheduler.snapshot import DeviceShare, Line
from jobs.scheduler.world import NO_BOUND, Ints, Site, World

Labels = tuple[tuple[str, str], ...]
Shares = tuple[DeviceShare, ...]
Taken = list[tuple[int, int, int, Shares, tuple[Shares, ...]]]  # part, replica, host row, devices here and beside


class Scope(NamedTuple):
    """Which hosts may be used: those with all labels, not excluded, and normally neither stale nor blocked.

    With `host` only that one, also while it is on trial.
    """

    labels: Labels = ()
    excluded: tuple[str, ...] = ()
    stale_too: bool = False
    blocked_too: bool = False
    host: str | None = None


class _Room:
    """Room for one shape of replica at one site: `room: int64[host of the site]`, and how far it is current."""

    __slots__ = ("mask", "room", "seen")

    def __init__(self, room: Ints, mask: Ints, seen: int) -> None:
        self.room, self.mask, self.seen = room, mask, seen


class Fits:
    """Answers for one world. Each shape is computed once and afterwards only for hosts that changed."""

    def __init__(self, world: World, stale: frozenset[str]) -> None:
        self.world = world
        self.stale = stale
        self._rooms: dict[tuple[int, Scope, tuple[Line, ...]], _Room] = {}
        self._masks: dict[tuple[int, Scope], Ints] = {}

    def fork(self) -> Fits:
        """Answers for an independent world that begins as this one is."""
        twin = Fits(self.world.copy(), self.stale)
        twin._masks = self._masks  # hosts do not change, only what is free of them
        return twin

    def room(self, site: Site, scope: Scope, lines: tuple[Line, ...]) -> Ints:
        """How many replicas of `lines` each host of the site could take now; read only."""
        key = (site.number, scope, lines)
        known = self._rooms.get(key)
        changes = self.world.changes[site.number]
        if known is None:
            mask = self.mask(site, scope)
            room = self.world.room(site.rows, lines) * mask
            known = self._rooms[key] = _Room(room, mask, len(changes))
        elif known.seen < len(changes):
            rows = np.array(changes[known.seen :], dtype=np.int64)  # a host twice costs less than finding out
            local = rows - site.start
            known.room[local] = self.world.room(rows, lines) * known.mask[local]
            known.seen = len(changes)
        return known.room

    def mask(self, site: Site, scope: Scope) -> Ints:
        """1 for every host of the site that `scope` lets in, else 0."""
        known = self._masks.get((site.number, scope))
        if known is None:
            wanted, excluded, pinned = frozenset(scope.labels), frozenset(scope.excluded), scope.host
            stale = site.cluster in self.stale and not scope.stale_too
            known = self._masks[site.number, scope] = np.array(
                [
                    not stale
                    and (host.blocked is None or scope.blocked_too or (host.trial and pinned is not None))
                    and (pinned is None or host.key == pinned)
                    and host.key not in excluded
                    and (not wanted or wanted.issubset(host.labels))
                    for host in self.world.hosts[site.rows]
                ],
                dtype=np.int64,
            )
        return known

    def ready(self, site: Site, scope: Scope, part: Part) -> int:
        """How many of a part's replicas fit now, at most all of them, other parts aside."""
        return min(part.replicas, int(self.room(site, scope, part.lines).sum()))

    def fits(self, site: Site, scope: Scope, demand: Demand) -> bool:
        """Whether all replicas fit at once; the world is left as it was."""
        if any(self.ready(site, scope, part) < part.replicas for part in demand.parts):
            return False
        if len(demand.parts) == 1:
            return True
        taken = self._take_all(site, scope, demand)
        if taken is not None:
            self._give_back(demand, taken)
        return taken is not None

    def place(
        self, site: Site, scope: Scope, demand: Demand, besides: Sequence[Fits] = ()
    ) -> tuple[Placement, ...] | None:
        """Take room for all replicas in the world; None, and nothing taken, when they do not all fit.

        `besides`: other worlds of the same hosts, in each of which a replica takes the same room on the same host.
        """
        if any(self.ready(site, scope, part) < part.replicas for part in demand.parts):
            return None
        taken = self._take_all(site, scope, demand, besides)
        if taken is None:
            return None
        hosts = self.world.hosts
        return tuple(
            Placement(demand.parts[part].name, replica, hosts[row].key, demand.parts[part].lines, shares)
            for part, replica, row, shares, _ in sorted(taken)
        )

    def _take_all(self, site: Site, scope: Scope, demand: Demand, besides: Sequence[Fits] = ()) -> Taken | None:
        for order in demand.orders:
            taken: Taken = []
            if all(self._take_part(site, scope, demand.parts[part], part, taken, besides) for part in order):
                return taken
            self._give_back(demand, taken, besides)
        return None

    def _take_part(
        self, site: Site, scope: Scope, part: Part, index: int, taken: Taken, besides: Sequence[Fits]
    ) -> bool:
        room = self.room(site, scope, part.lines)
        for beside in besides:
            room = np.minimum(room, beside.room(site, scope, part.lines))
        chosen = choose_hosts(room, self.world.tight[site.rows], part.replicas)
        replica = 0
        for local, count in chosen:
            row = site.start + local
            for _ in range(count):
                there = tuple(beside.world.take(row, part.lines) for beside in besides)
                taken.append((index, replica, row, self.world.take(row, part.lines), there))
                replica += 1
        return replica == part.replicas

    def _give_back(self, demand: Demand, taken: Taken, besides: Sequence[Fits] = ()) -> None:
        for part, _, row, shares, there in reversed(taken):
            self.world.give(row, demand.parts[part].lines, shares)
            for beside, devices in zip(besides, there, strict=True):
                beside.world.give(row, demand.parts[part].lines, devices)


def choose_hosts(room: Ints, tight: Ints, count: int) -> list[tuple[int, int]]:
    """Which hosts take how many of `count` replicas: few hosts, and of equal ones the tightest, then the first.

    Empty when there is not room for all. `room`, `tight`: int64[host].
    """
    if int(room.sum()) < count:
        return []
    chosen: list[tuple[int, int]] = []
    while count:
        enough = room >= count
        if enough.any():
            return [*chosen, (_tightest(enough, tight), count)]
        if not chosen:
            room = room.copy()
        most = int(room.max())
        host = _tightest(room == most, tight)
        chosen.append((host, most))
        room[host] = 0
        count -= most
    return chosen


def _tightest(allowed: npt.NDArray[np.bool_], tight: Ints) -> int:
    return int(np.where(allowed, tight, NO_BOUND).argmin())
