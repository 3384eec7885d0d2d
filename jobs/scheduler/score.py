"""Where one pod does least harm: the placement score, from what recorded shapes teach (`lessons`).

Larger is better. Scores are integers: thousandths of a device that stay useful, times `ONE`. A score is the sum of
- how much of the host's idle devices typical shapes can use afterwards and could not before, or the other way
  about (the fragmentation of FGD, without its squeeze);
- of a shared device, how much less or more of it will stay idle for good;
- best fit: little left, of CPU and of devices;
- the CPU that the devices still idle will lack;
- how scarce the class is.
Without records there is no score: the tightest host is taken, and the device that a part fills best.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jobs.scheduler.lessons import ONE, STEPS, Lessons
from jobs.scheduler.snapshot import Axis, Line, Resource
from jobs.scheduler.world import DeviceTable, Ints, Site, World

NOWHERE = int(np.iinfo(np.int64).min // 4)
_IDLE_WEIGHT = 8  # of a step that stays idle for good, against one that typical shapes cannot use now
_BEST_FIT = 80 * ONE  # for all of the largest host's CPU, and for all of its devices
_CPU_SHORT = ONE * 240 // 1000  # per milli-CPU that idle devices will lack
_CPU_SHORT_PLAIN = _CPU_SHORT // 100  # the same for pods without devices, which have to go somewhere
_SCARCE = ONE * 1200 // 1000  # per step of the class and thousandth of its scarcity, divided by 1000


class Rated(NamedTuple):
    """Of some hosts `score: int64[host]`, and `slot: int64[host]`: the device that a part is best taken from."""

    score: Ints
    slot: Ints


def what_counts(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines that a score depends on."""
    return tuple(line for line in lines if line.axis.resource in (Resource.CPU, Resource.DEVICE))


class Scores:
    """The scores of one world. What of them does not depend on the pod is kept, and renewed for hosts that changed."""

    def __init__(self, world: World, lessons: Lessons) -> None:
        self._world, self._lessons = world, lessons
        self._idle = {axis: _Idle(table, lessons, axis.class_key) for axis, table in world.tables.items()}
        self._seen: dict[tuple[Axis, int], int] = {}

    def rate(self, site: Site, rows: Ints, lines: Sequence[Line]) -> Rated:
        """How good each host of the site is for one more pod of `lines`; without meaning where it does not fit.

        Of several device classes in one pod the first counts, and of a host with several its devices of that class.
        """
        cpu = sum(amount for axis, amount in lines if axis.resource is Resource.CPU)
        device = next((line for line in lines if line.axis in self._idle), None)
        after = self._world.cpu[rows] - cpu
        if device is None:
            return self._rate_plain(site, rows, after)
        return self._rate_device(site, rows, device, after)

    def _current(self, site: Site, axis: Axis) -> _Idle:
        changes = self._world.changes_of[axis][site.number]
        seen = self._seen.get((axis, site.number))
        idle = self._idle[axis]
        if seen != len(changes):
            rows = np.arange(site.start, site.stop) if seen is None else np.array(list(set(changes[seen:])))
            idle.renew(rows, self._world.cpu[rows])
            self._seen[axis, site.number] = len(changes)
        return idle

    def _rate_device(self, site: Site, rows: Ints, line: Line, after: Ints) -> Rated:
        axis, amount = line
        idle, lessons = self._current(site, axis), self._lessons
        whole = idle.table.whole
        steps = amount * STEPS // whole
        flat = steps * ONE - _SCARCE * lessons.scarce.get(axis.class_key, 0) * steps // 1000
        was = idle.facts[rows]
        if amount % whole:
            slot, worth = idle.with_part_taken(rows, was[:, _COUNT], after, amount, steps)
        else:
            slot, worth = np.zeros_like(rows), idle.worth(rows, was[:, _COUNT] - amount // whole, after)
        left = was[:, _TOTAL] - steps
        short = _short(lessons, left, after) - was[:, _SHORT]
        return Rated(worth - was[:, _WORTH] - _best_fit(lessons, after, left) - _CPU_SHORT * short + flat, slot)

    def _rate_plain(self, site: Site, rows: Ints, after: Ints) -> Rated:
        score = -_best_fit(self._lessons, after, np.zeros_like(rows))
        for axis, table in self._world.tables.items():
            mine = np.flatnonzero(table.exists[rows, 0])
            if len(mine):
                there, cpu = rows[mine], after[mine]
                idle = self._current(site, axis)
                was = idle.facts[there]
                short = _short(self._lessons, was[:, _TOTAL], cpu) - was[:, _SHORT]
                gain = idle.worth(there, was[:, _COUNT], cpu) - was[:, _WORTH]
                left = _best_fit(self._lessons, np.zeros_like(cpu), was[:, _TOTAL])
                score[mine] += gain - left - _CPU_SHORT_PLAIN * short
        return Rated(score, np.zeros_like(rows))


_COUNT, _TOTAL, _WORTH, _SHORT = range(4)


class _Idle:
    """The devices of one class as they are.

    `steps: int64[host, slot]` are free. `facts: int64[host, 4]`: wholly free devices, steps free in all, what these
    are worth beside the CPU there is, and the CPU they lack.
    """

    def __init__(self, table: DeviceTable, lessons: Lessons, class_key: str) -> None:
        self.table, self._lessons = table, lessons
        self._useful = lessons.useful(class_key, _IDLE_WEIGHT)
        self.steps: Ints = np.zeros_like(table.left)
        self.facts: Ints = np.zeros((len(table.left), 4), dtype=np.int64)

    def renew(self, rows: Ints, cpu: Ints) -> None:
        """Bring some hosts up to date. `cpu: int64[host]` is what they have free."""
        left = self.table.left[rows]
        steps = self.steps[rows] = np.maximum(left, 0) * STEPS // self.table.whole
        count = (left == self.table.whole).sum(axis=1)
        total = steps.sum(axis=1)
        worth = self.worth(rows, count, cpu)
        self.facts[rows] = np.stack((count, total, worth, _short(self._lessons, total, cpu)), axis=1)

    def worth(self, rows: Ints, count: Ints, cpu: Ints) -> Ints:
        """What they are worth with `count` wholly free ones and so much CPU: int64[host].

        What stays idle for good is taken off for all of `steps`: a device that is taken whole gains nothing there.
        """
        rank = self._rank(cpu)
        wholes = self._useful.wholes[rank, np.maximum(count, 0)]
        worth: Ints = self._useful.parts[self._at(rank, rows)].sum(axis=1) + wholes
        return worth

    def with_part_taken(self, rows: Ints, count: Ints, cpu: Ints, amount: int, steps: int) -> tuple[Ints, Ints]:
        """The best device to take a part from, the first of equal ones, and what all are worth without it."""
        rank = self._rank(cpu)
        at = self._at(rank, rows)
        left = self.table.left[rows]
        parts, wholes = self._useful.parts[at], self._useful.wholes
        untouched = wholes[rank, count]
        fewer = wholes[rank, np.maximum(count - 1, 0)] - untouched
        change = self._useful.parts[at - steps] - parts + (left == self.table.whole) * fewer[:, None]
        change[left < amount] = NOWHERE
        slot = change.argmax(axis=1)
        return slot, change.max(axis=1) + parts.sum(axis=1) + untouched

    def _rank(self, cpu: Ints) -> Ints:
        return self._useful.levels.searchsorted(cpu, side="right")

    def _at(self, rank: Ints, rows: Ints) -> Ints:
        at: Ints = (rank * (STEPS + 1))[:, None] + self.steps[rows]
        return at


def _best_fit(lessons: Lessons, cpu: Ints, steps: Ints) -> Ints:
    left: Ints = cpu * (_BEST_FIT // lessons.most_cpu) + steps * (_BEST_FIT // lessons.most_steps)
    return left


def _short(lessons: Lessons, steps: Ints, cpu: Ints) -> Ints:
    """The milli-CPU that idle devices lack."""
    short: Ints = np.maximum(steps * lessons.cpu_per_device // STEPS - cpu, 0)
    return short
