"""What recorded shapes teach about a fleet: which are typical, how much CPU a device needs, which class is scarce.

All numbers are integers worked out in a fixed order, so that equal records give equal lessons on every machine.
Devices are measured in steps of a thousandth; a part that is no whole number of steps is rounded down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jobs.scheduler.snapshot import Asked, Leftover, Resource

Ints = npt.NDArray[np.int64]
STEPS = 1000  # of one device
ONE = 1_000_000  # one step in the unit of scores; the weights of typical shapes sum to about this as well
_TYPICAL_PERCENT = 95


class Kin(NamedTuple):
    """Hosts that are alike: `devices` devices of one class and so much CPU, `hosts` times."""

    class_key: str
    devices: int
    cpu: int
    hosts: int


class Form(NamedTuple):
    """A recorded shape reduced to what is learnt from: milli-CPU, device steps (1000 = one) and accepted classes."""

    cpu: int
    steps: int
    classes: tuple[str, ...]


class Useful(NamedTuple):
    """What idle devices of one class on a host are worth: how much of them typical shapes could use.

    `levels: int64[level]` are amounts of CPU in order; rank = how many of them the host still has. A device with
    some steps free is worth `parts: int64[rank * (STEPS + 1) + steps]`, less what will stay idle of it for good; so
    many wholly free ones together `wholes: int64[rank, count]` more. Both in steps times `ONE`.
    """

    levels: Ints
    parts: Ints
    wholes: Ints


class Lessons:
    """All that records teach about one fleet.

    `cpu_per_device`: milli-CPU to keep for an idle device. `scarce`: thousandths by class. `idle_for_good:
    int64[STEPS + 1]`: what in the end stays idle, in steps, of a device of which so many are free now.
    """

    def __init__(self, forms: Counter[Form], fleet: tuple[Kin, ...], leftovers: tuple[Leftover, ...] = ()) -> None:
        self._typical = _typical(forms)
        self._most: dict[str, int] = {}
        for kin in fleet:
            self._most[kin.class_key] = max(self._most.get(kin.class_key, 0), kin.devices)
        self._known: dict[str, Useful] = {}
        self.cpu_per_device = _cpu_per_device(forms)
        self.scarce = scarcity(forms, fleet)
        self.idle_for_good = _idle_for_good(leftovers)
        self.most_cpu = max((kin.cpu for kin in fleet), default=0) or 1
        self.most_steps = max(self._most.values(), default=0) * STEPS or 1

    def useful(self, class_key: str, idle_weight: int) -> Useful:
        """The tables of one class, where a step that stays idle for good counts `idle_weight` times."""
        known = self._known.get(class_key)
        if known is None:
            table = _useful(self._typical, class_key, self._most.get(class_key, 0))
            worth = table.parts.reshape(-1, STEPS + 1) - idle_weight * ONE * self.idle_for_good
            known = self._known[class_key] = table._replace(parts=worth.reshape(-1))
        return known


@lru_cache(maxsize=8)
def learn(
    history: tuple[Asked, ...],
    leftovers: tuple[Leftover, ...],
    fleet: tuple[Kin, ...],
    wholes: tuple[tuple[str, int], ...],
) -> Lessons | None:
    """What records teach about a fleet; None when there are none. `wholes`: parts of one device by class."""
    forms = forms_of(history, dict(wholes))
    return Lessons(forms, fleet, leftovers) if forms.total() else None


def forms_of(history: Iterable[Asked], wholes: dict[str, int]) -> Counter[Form]:
    """The recorded shapes, those of unknown classes left out. `wholes`: parts of one device by class."""
    forms: Counter[Form] = Counter()
    for asked in history:
        classes = tuple(key for key in sorted(asked.classes) if key in wholes)
        if classes or not asked.devices:
            cpu = sum(line.amount for line in asked.lines if line.axis.resource is Resource.CPU)
            steps = asked.devices * STEPS // wholes[classes[0]] if asked.devices else 0
            forms[Form(cpu, steps, classes if steps else ())] += asked.weight
    return forms


def scarcity(forms: Counter[Form], fleet: tuple[Kin, ...]) -> dict[str, int]:
    """By class, in thousandths: demand that has little other choice, as a part of what there is of the class.

    Demand is what was recorded, scaled to the size of the fleet, of shapes that fit on less than half of all
    devices; it is spread over the classes it fits on by their size.
    """
    sizes: Counter[str] = Counter()
    for kin in fleet:
        sizes[kin.class_key] += kin.devices * kin.hosts
    total = sizes.total()
    demand = sum(form.steps * weight for form, weight in forms.items())
    scarce: Counter[str] = Counter()
    for form, weight in sorted(forms.items()):
        fitting = sorted({kin.class_key for kin in fleet if _could_hold(kin, form)}) if form.steps else []
        room = sum(sizes[key] for key in fitting)
        if fitting and 2 * room < total:
            for key in fitting:  # spread by size: every class it fits on is filled to the same part
                scarce[key] += ONE * form.steps * weight * total // (demand * room)
    return {key: min(1000, scarce[key] * 1000 // ONE) for key in sorted(sizes)}


def _could_hold(kin: Kin, form: Form) -> bool:
    return kin.class_key in form.classes and kin.cpu >= form.cpu and kin.devices * STEPS >= form.steps


def _typical(forms: Counter[Form]) -> list[tuple[Form, int]]:
    """The most frequent shapes until nearly all records are covered, with weights that sum to about `ONE`."""
    in_order = sorted(forms.items(), key=lambda item: (-item[1], item[0]))
    covered = list(accumulate(weight for _, weight in in_order))
    enough = next(n for n, so_far in enumerate(covered, 1) if 100 * so_far >= _TYPICAL_PERCENT * covered[-1])
    return [(form, ONE * weight // covered[enough - 1]) for form, weight in in_order[:enough]]


def _cpu_per_device(forms: Counter[Form]) -> int:
    """What recorded shapes ask for per device, on average."""
    cpu = sum(form.cpu * weight for form, weight in forms.items() if form.steps)
    steps = sum(form.steps * weight for form, weight in forms.items())
    return cpu * STEPS // steps if steps else 0


def _idle_for_good(leftovers: Iterable[Leftover]) -> Ints:
    idle = np.zeros(STEPS + 1, dtype=np.int64)
    for row in leftovers:  # in order of what is free: later rows write over what is not theirs
        idle[max(row.free, 0) :] = row.idle
    return idle


def _useful(typical: Iterable[tuple[Form, int]], class_key: str, most: int) -> Useful:
    mine = [(form, weight) for form, weight in typical if form.steps and class_key in form.classes]
    levels = np.array(sorted({form.cpu for form, _ in mine}), dtype=np.int64)
    parts = np.zeros((len(levels) + 1, STEPS + 1), dtype=np.int64)
    several = np.zeros((len(levels) + 1, most + 1), dtype=np.int64)
    for form, weight in mine:
        rank = int(np.searchsorted(levels, form.cpu)) + 1
        if form.steps <= STEPS:
            parts[rank:, form.steps :] += weight
        else:
            several[rank:, -(-form.steps // STEPS) :] += weight
    wholes = (parts[:, STEPS:] + several) * np.arange(most + 1, dtype=np.int64) * STEPS
    parts *= np.arange(STEPS + 1, dtype=np.int64)
    parts[:, STEPS] = 0  # a wholly free device counts among `wholes`
    return Useful(levels, parts.reshape(-1), wholes)
