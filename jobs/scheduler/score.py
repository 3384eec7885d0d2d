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

from jobs.scheduler.lessons import ONE, STEPS, Lessons, Useful
from jobs.scheduler.snapshot import Axis, Line, Resource
from jobs.scheduler.world import DeviceTable, Ints, World

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


def rate(world: World, lessons: Lessons, rows: Ints, lines: Sequence[Line]) -> Rated:
    """How good each host is for one more pod of `lines`; without meaning where the pod does not fit.

    Of several device classes in one pod the first counts, and of a host with several its devices of that class.
    """
    cpu = sum(amount for axis, amount in lines if axis.resource is Resource.CPU)
    device = next((line for line in lines if line.axis in world.tables), None)
    before = world.cpu[rows]
    if device is None:
        return _rate_plain(world, lessons, rows, before, before - cpu)
    return _rate_device(world, lessons, rows, device, before, before - cpu)


def _rate_device(world: World, lessons: Lessons, rows: Ints, line: Line, before: Ints, after: Ints) -> Rated:
    axis, amount = line
    table = world.tables[axis]
    idle = _Idle(table, _useful(lessons, axis), rows)
    steps = amount * STEPS // table.whole
    if amount % table.whole:
        slot, gain = idle.part_taken(before, after, amount, steps)
    else:
        slot, gain = np.zeros(len(rows), dtype=np.int64), idle.wholes_taken(before, after, amount // table.whole)
    left = idle.total - steps
    short = _short(lessons, left, after) - _short(lessons, idle.total, before)
    flat = steps * ONE - _SCARCE * lessons.scarce.get(axis.class_key, 0) * steps // 1000
    return Rated(gain - _best_fit(lessons, after, left) - _CPU_SHORT * short + flat, slot)


def _rate_plain(world: World, lessons: Lessons, rows: Ints, before: Ints, after: Ints) -> Rated:
    gain = np.zeros(len(rows), dtype=np.int64)
    total = np.zeros(len(rows), dtype=np.int64)
    for axis, table in world.tables.items():
        mine = np.flatnonzero(table.exists[rows, 0])
        if len(mine):
            idle = _Idle(table, _useful(lessons, axis), rows[mine])
            gain[mine] += idle.worth(after[mine]) - idle.worth(before[mine])
            total[mine] += idle.total
    short = _short(lessons, total, after) - _short(lessons, total, before)
    return Rated(gain - _best_fit(lessons, after, total) - _CPU_SHORT_PLAIN * short, np.zeros_like(gain))


def _useful(lessons: Lessons, axis: Axis) -> Useful:
    return lessons.useful(axis.class_key, _IDLE_WEIGHT)


def _best_fit(lessons: Lessons, cpu: Ints, steps: Ints) -> Ints:
    left: Ints = cpu * (_BEST_FIT // lessons.most_cpu) + steps * (_BEST_FIT // lessons.most_steps)
    return left


def _short(lessons: Lessons, steps: Ints, cpu: Ints) -> Ints:
    """The milli-CPU that idle devices lack."""
    return np.maximum(steps * lessons.cpu_per_device // STEPS - cpu, 0)


class _Idle:
    """The devices of one class on some hosts."""

    def __init__(self, table: DeviceTable, useful: Useful, rows: Ints) -> None:
        self._useful = useful
        self._left = table.left[rows]
        self._whole = table.whole
        self._steps = np.maximum(self._left, 0) * STEPS // table.whole
        self._is_whole = self._left == table.whole
        self._count = self._is_whole.sum(axis=1)
        self.total: Ints = self._steps.sum(axis=1)

    def worth(self, cpu: Ints) -> Ints:
        """What they are worth beside so much CPU."""
        rank = self._rank(cpu)
        worth: Ints = self._useful.parts[self._at(rank)].sum(axis=1) + self._useful.wholes[rank, self._count]
        return worth

    def wholes_taken(self, before: Ints, after: Ints, count: int) -> Ints:
        """The change of worth when `count` whole ones go."""
        rank = self._rank(after)
        left = np.maximum(self._count - count, 0)
        worth: Ints = self._useful.parts[self._at(rank)].sum(axis=1) + self._useful.wholes[rank, left]
        return worth - self.worth(before)

    def part_taken(self, before: Ints, after: Ints, amount: int, steps: int) -> tuple[Ints, Ints]:
        """The best device to take a part from, the first of equal ones, and the change of worth then."""
        parts, wholes = self._useful.parts, self._useful.wholes
        rank = self._rank(after)
        at = self._at(rank)
        now = parts[at]
        fewer = wholes[rank, np.maximum(self._count - 1, 0)] - wholes[rank, self._count]
        change = parts[at - steps] - now + self._is_whole * fewer[:, None]
        change[self._left < amount] = NOWHERE
        slot = change.argmax(axis=1)
        best = change[np.arange(len(slot)), slot]
        return slot, best + now.sum(axis=1) + wholes[rank, self._count] - self.worth(before)

    def _rank(self, cpu: Ints) -> Ints:
        return self._useful.levels.searchsorted(cpu, side="right")

    def _at(self, rank: Ints) -> Ints:
        at: Ints = (rank * (STEPS + 1))[:, None] + self._steps
        return at
