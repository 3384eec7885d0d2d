"""What a job asks for, in the one form the rest of the package computes with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from itertools import permutations
from typing import NamedTuple

from jobs.scheduler.snapshot import Axis, Line, PodSet, Resource

MOST_ORDERS = 6


class Part(NamedTuple):
    """A pod set: `replicas` times `lines`, one line per axis, in order, none of them zero."""

    name: str
    replicas: int
    lines: tuple[Line, ...]


class Demand:
    """The pod sets of an alternative reduced to what counts; make one for equal pod sets and reuse it."""

    def __init__(self, pod_sets: tuple[PodSet, ...]) -> None:
        self.parts = tuple(Part(pods.name, pods.count, _merged(pods.lines)) for pods in pod_sets if pods.count)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """What one replica of each part asks for, part by part."""
        return tuple(line for part in self.parts for line in part.lines)

    @cached_property
    def total(self) -> tuple[Line, ...]:
        """The sum over all replicas, one line per axis."""
        return _merged(Line(axis, amount * part.replicas) for part in self.parts for axis, amount in part.lines)

    @cached_property
    def replicas(self) -> int:
        """How many pods run at once."""
        return sum(part.replicas for part in self.parts)

    def of_resource(self, resource: Resource) -> int:
        """The sum over all classes of one resource."""
        return sum(amount for axis, amount in self.total if axis.resource is resource)

    @cached_property
    def orders(self) -> tuple[tuple[int, ...], ...]:
        """In which orders to try placing the parts: largest first, then others, a few at most."""
        by_size = sorted(range(len(self.parts)), key=lambda index: (_size(self.parts[index]), index))
        return tuple(permutations(by_size))[:MOST_ORDERS] if len(by_size) <= 3 else (tuple(by_size),)


def _merged(lines: Iterable[Line]) -> tuple[Line, ...]:
    sums: Counter[Axis] = Counter()
    for axis, amount in lines:
        sums[axis] += amount
    return tuple(Line(axis, sums[axis]) for axis in sorted(sums) if sums[axis])


def _size(part: Part) -> tuple[int, ...]:
    """Sorts larger replicas first: by devices, then CPU, then memory."""
    wanted = (Resource.DEVICE, Resource.CPU, Resource.MEMORY)
    return tuple(-sum(amount for axis, amount in part.lines if axis.resource is r) for r in wanted)
