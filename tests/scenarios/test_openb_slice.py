"""The openb bench on a slice of its data: what it decides is possible, complete, and the same however it is cut."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from jobs.scheduler.cycle import cycle
from jobs.scheduler.decision import Admit
from jobs.scheduler.rules import Rules
from jobs.scheduler.snapshot import Holding, Snapshot
from jobs.scheduler.waste import leftovers
from tests.bench import openb
from tests.bench.bench_openb import Times, fill
from tests.bench.report import NotRun
from tests.scenarios.worlds import overfull

SLICE = Path(__file__).parents[1] / "data" / "openb"
SEED = 7


@cache
def arrived(workload: str) -> tuple[Snapshot, list[openb.Pod], int]:
    """The empty slice with what its history teaches, the pods that arrive, and all thousandths of devices."""
    nodes = openb.nodes(SLICE)
    listed = openb.pods(SLICE, workload, {node.model for node in nodes})
    capacity = 1000 * sum(node.gpus for node in nodes)
    empty = openb.fleet(nodes, listed)
    return replace(empty, leftovers=leftovers(empty)), openb.arrivals(listed, SEED, capacity * 13 // 10), capacity


@cache
def filled(workload: str, per_pass: int, taught: bool = True) -> tuple[Holding, ...]:
    empty, pods, _ = arrived(workload)
    empty = empty if taught else replace(empty, history=(), leftovers=())
    return tuple(fill(empty, pods, Rules(), per_pass, Times()))


def used(workload: str, held: tuple[Holding, ...]) -> float:
    _, pods, capacity = arrived(workload)
    return sum(pods[int(holding.job.removeprefix("pod-"))].gpu for holding in held) / capacity


def test_pods_arrive_until_enough_was_asked_for_the_listed_ones_first() -> None:
    _, pods, capacity = arrived("default")
    listed = openb.pods(SLICE, "default", ("G2", "G3", "P100", "T4", "V100M16"))
    assert sum(pod.gpu for pod in pods) - pods[-1].gpu < capacity * 13 // 10 <= sum(pod.gpu for pod in pods)
    first = Counter(pods[: len(listed)])
    assert first <= Counter(listed) if len(pods) < len(listed) else first == Counter(listed)


@pytest.mark.parametrize("workload", ["default", "gpuspec33"])
def test_no_host_or_device_is_given_out_twice(workload: str) -> None:
    empty, _, _ = arrived(workload)
    assert overfull(replace(empty, holdings=filled(workload, 1000))) == []


@pytest.mark.parametrize("workload", ["default", "gpuspec33"])
def test_no_pod_is_refused_that_has_room(workload: str) -> None:
    empty, pods, _ = arrived(workload)
    held = filled(workload, 1000)
    started = {holding.job for holding in held}
    left = [job for job in openb.jobs(pods) if job.key not in started]
    assert left
    again = cycle(replace(empty, at_ms=openb.AT + len(pods), holdings=held, waiting=tuple(left)), Rules())
    assert not any(isinstance(decision, Admit) for decision in again.decisions)


@pytest.mark.parametrize("workload", ["default", "gpuspec33"])
def test_many_or_few_per_pass_are_the_same(workload: str) -> None:
    assert filled(workload, 50) == filled(workload, 1000)


def test_records_fill_the_fleet_better_than_none() -> None:
    taught, plain = (used("default", filled("default", 1000, which)) for which in (True, False))
    assert taught > plain + 0.01
    assert taught > 0.9


def test_a_folder_without_the_data_is_not_run() -> None:
    with pytest.raises(NotRun, match="--data"):
        openb.nodes(SLICE / "elsewhere")
