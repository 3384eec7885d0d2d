"""How much of a shared device stays idle for good, learnt by filling a small fleet on paper with what was recorded.

Holes of some sizes are filled sooner or later and others never, and which is which depends on everything else that
arrives. So it is tried out: recorded shapes arrive one by one, in random order, on a fleet like the real one but
small, until more was asked for than there is. Half of the fills place by fragmentation alone, half also keep CPU for
idle devices; each device teaches what was left of it in the end to every size that was free of it on the way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random

from jobs.scheduler.demand import Demand
from jobs.scheduler.fit import Fits, Scope
from jobs.scheduler.lessons import STEPS, Form, Kin, Lessons, forms_of
from jobs.scheduler.snapshot import (
    Axis,
    Cluster,
    Device,
    Host,
    Leftover,
    Line,
    PodSet,
    Pool,
    Resource,
    ResourceClass,
    Snapshot,
)
from jobs.scheduler.world import World

_DEVICES = 6400  # of the fleet on paper, at most about
_FILLS = 4  # of each kind
_ARRIVE_PERCENT = 130
_BUCKET = STEPS // 100  # sizes that differ by less learn together
_PRIOR = 3  # devices of which half stays idle, so that what was seen once or twice does not rule
_OPENING_PERCENT = 105  # a first share on a free device costs a little more than it did on average
_CPU = Axis("cpu", Resource.CPU)
_CARD = "device"  # the one class on paper: what fits in a hole does not depend on the model


def leftovers(snapshot: Snapshot) -> tuple[Leftover, ...]:
    """What the history of a snapshot teaches of its fleet; nothing where no part of a device was ever asked for.

    This takes seconds where a pass takes less: it is for now and then, its rows are for every snapshot after.
    """
    world = World.of(replace(snapshot, history=(), leftovers=()))
    wholes = {axis.class_key: table.whole for axis, table in world.tables.items()}
    forms = forms_of(snapshot.history, wholes)
    if not any(0 < form.steps < STEPS for form in forms):
        return ()
    on_paper = _OnPaper(forms, tuple(sorted(world.kin())))
    plain, mindful = on_paper.learnt(mindful=False), on_paper.learnt(mindful=True)
    halved = [(one + other) // 2 for one, other in zip(plain, mindful, strict=True)]
    return tuple(Leftover(bucket * _BUCKET, idle) for bucket, idle in enumerate(halved))


class _OnPaper:
    """The small fleet, all of one class, and what arrives there."""

    def __init__(self, forms: Counter[Form], fleet: tuple[Kin, ...]) -> None:
        merged: Counter[Form] = Counter()
        for form, weight in forms.items():
            merged[form._replace(classes=(_CARD,) if form.steps else ())] += weight
        self.forms = merged
        self.fleet = tuple(_reduced(fleet))
        self._capacity = sum(kin.devices * kin.hosts for kin in self.fleet) * STEPS
        self._world = World.of(_snapshot(self.fleet))
        self._deck = list(self._arrivals())

    def _arrivals(self) -> Iterator[tuple[Form, Demand]]:
        """As many of each shape as its weight says, so that they ask for more than there is."""
        asked = sum(form.steps * weight for form, weight in self.forms.items())
        wanted = self._capacity * _ARRIVE_PERCENT // 100
        before = 0
        for form, weight in sorted(self.forms.items()):
            demand = Demand((PodSet("pod", 1, _lines(form)),))
            after = before + weight
            for _ in range(after * wanted // asked - before * wanted // asked):
                yield form, demand
            before = after

    def learnt(self, *, mindful: bool) -> list[int]:
        """What is left in the end, by bucket of what was free on the way, over some fills; `mindful` of CPU or not."""
        lessons = Lessons(self.forms, self.fleet)
        if not mindful:
            lessons.cpu_per_device = 0
        left_over: Counter[int] = Counter()
        seen: Counter[int] = Counter()
        ends: list[int] = []
        for fill in range(_FILLS):
            for passed in self._fill(lessons, Random(fill)):  # noqa: S311 - which shapes come next, no secret
                ends.append(passed[-1])
                for bucket in {steps // _BUCKET for steps in passed}:
                    left_over[bucket] += passed[-1]
                    seen[bucket] += 1
        learnt = [
            (2 * left_over[bucket] + _PRIOR * bucket * _BUCKET) // (2 * (seen[bucket] + _PRIOR))
            for bucket in range(STEPS // _BUCKET)
        ]
        opened = _OPENING_PERCENT * sum(ends) // (100 * len(ends)) if ends else 0
        return [*learnt, opened]

    def _fill(self, lessons: Lessons, chance: Random) -> list[list[int]]:
        """Of every shared device, the steps that were free of it after each pod."""
        world = self._world.copy()
        world.lessons = lessons
        fits = Fits(world, frozenset())
        (site,) = world.sites["pool"]
        free: dict[str, list[int]] = {}
        for form, demand in sorted(self._deck, key=lambda _: chance.random()):
            placed = fits.place(site, Scope(), demand)
            if placed and 0 < form.steps < STEPS:
                ((device, _),) = placed[0].devices
                passed = free.setdefault(device, [])
                passed.append((passed[-1] if passed else STEPS) - form.steps)
        return list(free.values())


def _reduced(fleet: tuple[Kin, ...]) -> Iterator[Kin]:
    """Every n-th host of the fleet."""
    stride = max(1, sum(kin.devices * kin.hosts for kin in fleet) // _DEVICES)
    before = stride // 2
    for kin in fleet:
        after = before + kin.hosts
        if after // stride > before // stride:
            yield kin._replace(class_key=_CARD, hosts=after // stride - before // stride)
        before = after


def _lines(form: Form) -> tuple[Line, ...]:
    return (Line(_CPU, form.cpu), Line(Axis(_CARD, Resource.DEVICE), form.steps))


def _snapshot(fleet: tuple[Kin, ...]) -> Snapshot:
    names = (f"{number}" for number in range(1 << 20))
    return Snapshot(
        at_ms=0,
        classes=(ResourceClass(_CARD, _CARD, Resource.DEVICE, whole=STEPS, divisible=True),),
        clusters=(Cluster("cluster", "cluster", 0),),
        pools=(Pool("pool", "pool"),),
        hosts=tuple(_host(next(names), kin) for kin in fleet for _ in range(kin.hosts)),
    )


def _host(name: str, kin: Kin) -> Host:
    devices = tuple(Device(f"{name}/{number}", _CARD) for number in range(kin.devices))
    return Host(name, name, "cluster", "pool", (Line(_CPU, kin.cpu),), devices)
