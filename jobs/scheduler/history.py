"""Recorded jobs as the shapes that placement learns from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from jobs.scheduler.snapshot import Alternative, Asked, Line, PodSet, Resource

_Shape = tuple[int, tuple[Line, ...]]  # device parts, all else


def recorded(jobs: Iterable[tuple[tuple[Alternative, ...], int]]) -> tuple[Asked, ...]:
    """The rows of `Snapshot.history` for these jobs, each given by its alternatives and how often it was seen.

    A job counts in the shapes of its first alternative, once per replica. The classes it accepts there are those of
    every alternative that asks for the same of them; of a pod with several device classes only the first counts.
    """
    seen: Counter[tuple[tuple[str, ...], int, tuple[Line, ...]]] = Counter()
    for alternatives, weight in jobs:
        for pods in alternatives[0].pod_sets if alternatives else ():
            devices, plain = _shape(pods)
            classes = tuple(sorted(_accepted(alternatives, pods.name, (devices, plain))))
            seen[classes, devices, plain] += weight * pods.count
    return tuple(Asked(*shape, weight) for shape, weight in sorted(seen.items()) if weight)


def _accepted(alternatives: tuple[Alternative, ...], name: str, shape: _Shape) -> set[str]:
    alike = (pods for way in alternatives for pods in way.pod_sets if pods.name == name and _shape(pods) == shape)
    return {line.axis.class_key for pods in alike for line in _devices(pods)[:1]}


def _shape(pods: PodSet) -> _Shape:
    devices = _devices(pods)[:1]
    plain = tuple(sorted(line for line in pods.lines if line.axis.resource is not Resource.DEVICE))
    return sum(line.amount for line in devices), plain


def _devices(pods: PodSet) -> list[Line]:
    return sorted(line for line in pods.lines if line.axis.resource is Resource.DEVICE and line.amount)
