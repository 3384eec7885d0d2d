"""Where replicas fit and where they go: room and score per host, kept by shape, and the choice among hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jobs.scheduler.decision import Placement
from jobs.scheduler.demand import Demand, Part
from jobs.scheduler.score import NOWHERE, Rated, Scores, what_counts
from jobs.scheduler.snapshot import DeviceShare, Host, Line
from jobs.scheduler.world import NO_BOUND, Ints, Site, World
from resources.driver_fit import driver_fit, is_refused

Labels = tuple[tuple[str, str], ...]
Shares = tuple[DeviceShare, ...]
Taken = list[tuple[int, int, int, Shares, tuple[Shares, ...]]]  # part, replica, host row, devices here and beside


class Scope(NamedTuple):
    """Which hosts may be used: those with all labels, not excluded, and normally neither stale nor blocked.

    With `host` only that one, also while it is on trial. With `drivers`, a range of versions, only those whose drivers
    of these classes of device are within; `runtime` is what states the range.
    """

    labels: Labels = ()
    excluded: tuple[str, ...] = ()
    stale_too: bool = False
    blocked_too: bool = False
    host: str | None = None
    drivers: str = ""
    classes: tuple[str, ...] = ()
    runtime: str = ""

    def takes_driver(self, host: Host) -> bool:
        """Whether the drivers of the devices that a host would give are among those declared for."""
        versions = [version for key, found in host.drivers if key in self.classes for version in found]
        return not is_refused(driver_fit(versions, self.drivers), known_only=host.known_driver_only)


class _Room:
    """Room for one shape of replica at one site: `room: int64[host of the site]`, and how far it is current."""

    __slots__ = ("mask", "room", "seen")

    def __init__(self, room: Ints, mask: Ints, seen: int) -> None:
        self.room, self.mask, self.seen = room, mask, seen


class _Rating:
    """The score of one shape of replica at one site, and how far it is current (None: not begun).

    `score`, `slot: int64[host of the site]`; NOWHERE for hosts without such devices.
    """

    __slots__ = ("score", "seen", "slot")

    def __init__(self, hosts: int) -> None:
        self.score: Ints = np.full(hosts, NOWHERE, dtype=np.int64)
        self.slot: Ints = np.zeros(hosts, dtype=np.int64)
        self.seen: int | None = None

    def enter(self, local: Ints, rated: Rated, seen: int) -> None:
        self.score[local], self.slot[local] = rated
        self.seen = seen


class Fits:
    """Answers for one world. Each shape is computed once and afterwards only for hosts that changed."""

    def __init__(self, world: World, stale: frozenset[str]) -> None:
        self.world = world
        self.stale = stale
        self._rooms: dict[tuple[int, Scope, tuple[Line, ...]], _Room] = {}
        self._masks: dict[tuple[int, Scope], Ints] = {}
        self._scores = Scores(world, world.lessons) if world.lessons is not None else None
        self._ratings: dict[tuple[int, tuple[Line, ...]], _Rating] = {}
        self._bests: dict[tuple[int, Scope, Demand], tuple[int, int | None]] = {}

    def fork(self) -> Fits:
        """Answers for an independent world that begins as this one is."""
        twin = Fits(self.world.copy(), self.stale)
        twin._masks = self._masks  # hosts do not change, only what is free of them
        return twin

    def room(self, site: Site, scope: Scope, lines: tuple[Line, ...]) -> Ints:
        """How many replicas of `lines` each host of the site could take now; read only."""
        key = (site.number, scope, lines)
        known = self._rooms.get(key)
        changes = self.world.log(site, lines)
        if known is None:
            mask = self.mask(site, scope)
            rows = self.world.rows_for(site, lines)
            room = np.zeros_like(mask)
            room[rows - site.start] = self.world.room(rows, lines)
            known = self._rooms[key] = _Room(room * mask, mask, len(changes))
        elif known.seen < len(changes):
            rows = _unlike(changes, known.seen)
            local = rows - site.start
            known.room[local] = self.world.room(rows, lines) * known.mask[local]
            known.seen = len(changes)
        return known.room

    def _rating(self, site: Site, lines: tuple[Line, ...]) -> _Rating | None:
        """How good each host of the site is for one more replica of `lines`; None where nothing was learnt."""
        if self._scores is None:
            return None
        known = self._ratings.get((site.number, lines)) or self._first_rating(site, lines)
        changes = self.world.log(site, lines)
        if known.seen is None:
            rows = self.world.rows_for(site, lines)
        elif known.seen < len(changes):
            rows = _unlike(changes, known.seen)
        else:
            return known
        known.enter(rows - site.start, self._scores.rate(site, rows, lines), len(changes))
        return known

    def _first_rating(self, site: Site, lines: tuple[Line, ...]) -> _Rating:
        """The one rating of all that score alike, entered for these lines too."""
        alike = (site.number, what_counts(lines))
        known = self._ratings[site.number, lines] = self._ratings.setdefault(alike, _Rating(site.stop - site.start))
        return known

    def best(self, site: Site, scope: Scope, demand: Demand) -> int | None:
        """The score of the best host for the largest replica; None when there is no room, 0 where nothing was learnt.

        Of demands that a job likes equally the one with the highest does least harm.
        """
        (part, *others) = (demand.parts[index] for index in demand.orders[0])
        changes = self.world.changes[site.number] if others else self.world.log(site, part.lines)
        key = (site.number, scope, demand)
        known = self._bests.get(key)
        if known is None or known[0] < len(changes):
            known = self._bests[key] = len(changes), self._best(site, scope, part, others)
        return known[1]

    def _best(self, site: Site, scope: Scope, largest: Part, others: list[Part]) -> int | None:
        parts = (largest, *others)
        if (others or largest.replicas > 1) and any(self.ready(site, scope, p) < p.replicas for p in parts):
            return None
        room = self.room(site, scope, largest.lines)
        rating = self._rating(site, largest.lines)
        if rating is None:
            return 0 if room.any() else None
        best = int(np.where(room > 0, rating.score, NOWHERE).max())
        return None if best == NOWHERE else best

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
                    and (not scope.drivers or scope.takes_driver(host))
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
        rating = self._rating(site, part.lines)
        score = None if rating is None else rating.score
        chosen = choose_hosts(room, self.world.tight[site.rows], part.replicas, score)
        replica = 0
        for local, count in chosen:
            row = site.start + local
            for _ in range(count):
                there = tuple(beside.world.take(row, part.lines) for beside in besides)
                taken.append((index, replica, row, self._take(site, row, part.lines), there))
                replica += 1
        return replica == part.replicas

    def _take(self, site: Site, row: int, lines: tuple[Line, ...]) -> Shares:
        rating = self._rating(site, lines)  # anew for every replica: the one before changed the host
        return self.world.take(row, lines, None if rating is None else int(rating.slot[row - site.start]))

    def _give_back(self, demand: Demand, taken: Taken, besides: Sequence[Fits] = ()) -> None:
        for part, _, row, shares, there in reversed(taken):
            self.world.give(row, demand.parts[part].lines, shares)
            for beside, devices in zip(besides, there, strict=True):
                beside.world.give(row, demand.parts[part].lines, devices)


def _unlike(changes: list[int], seen: int) -> Ints:
    """The rows that changed since; of a few one may come twice, which costs less than finding out."""
    rows = changes[seen:]
    return np.array(rows if len(rows) < 12 else list(set(rows)), dtype=np.int64)


def choose_hosts(room: Ints, tight: Ints, count: int, score: Ints | None = None) -> list[tuple[int, int]]:
    """Which hosts take how many of `count` replicas: few hosts, of equal ones the best, the tightest, the first.

    Empty when there is not room for all. `room`, `tight`, `score`: int64[host]; without scores all are as good.
    """
    if int(room.sum()) < count:
        return []
    chosen: list[tuple[int, int]] = []
    while count:
        enough = room >= count
        if enough.any():
            return [*chosen, (_first_choice(enough, tight, score), count)]
        if not chosen:
            room = room.copy()
        most = int(room.max())
        host = _first_choice(room == most, tight, score)
        chosen.append((host, most))
        room[host] = 0
        count -= most
    return chosen


def _first_choice(allowed: npt.NDArray[np.bool_], tight: Ints, score: Ints | None) -> int:
    if score is not None:
        scores = np.where(allowed, score, NOWHERE)
        best = scores == scores.max()
        if np.count_nonzero(best) == 1:
            return int(best.argmax())
        allowed = allowed & best
    return int(np.where(allowed, tight, NO_BOUND).argmin())
