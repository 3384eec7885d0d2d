"""The openb trace in the scheduler's words: 17 workloads on 1,213 hosts, each pod a job that starts now or not at all.

Every pod is a job with `max_wait_ms` 0 that lists each device model it accepts as an alternative, none preferred. The
history that placement learns from is the pod list of the workload itself, as in the paper.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from jobs.scheduler.snapshot import (
    WHOLE_DEVICE,
    Alternative,
    Asked,
    Axis,
    Cluster,
    Device,
    Grant,
    Host,
    Line,
    PodSet,
    Pool,
    Resource,
    ResourceClass,
    Snapshot,
    Tenant,
    WaitingJob,
)
from tests.bench.report import NotRun

MILLI = WHOLE_DEVICE // 1000
AT, MIB = 1_796_040_000_000, 1 << 20
CPU, MEMORY = Axis("cpu", Resource.CPU), Axis("memory", Resource.MEMORY)
NODES = "openb_node_list_gpu_node.csv"
POLICY = "fgd"  # of the published results
WORKLOADS = (
    *("default", "cpu050", "cpu100", "cpu200", "cpu250"),
    *("gpushare40", "gpushare60", "gpushare80", "gpushare100"),
    *("multigpu20", "multigpu30", "multigpu40", "multigpu50"),
    *("gpuspec10", "gpuspec20", "gpuspec25", "gpuspec33"),
)


class Node(NamedTuple):
    """A row of the node list."""

    name: str
    cpu: int
    memory: int
    gpus: int
    model: str


class Pod(NamedTuple):
    """A row of a pod list: `gpu` in thousandths of a device, `models` empty for a pod without any."""

    cpu: int
    memory: int
    gpu: int
    models: tuple[str, ...]


def nodes(folder: Path) -> list[Node]:
    """The hosts with devices, by name. Raises NotRun where the list is not there."""
    rows = _rows(folder / NODES)
    found = [Node(r["sn"], int(r["cpu_milli"]), int(r["memory_mib"]) * MIB, int(r["gpu"]), r["model"]) for r in rows]
    return sorted(found)


def pods(folder: Path, workload: str, models: Iterable[str]) -> list[Pod]:
    """The pods of a workload in the order of the file; one that names no model accepts all of `models`."""
    every = tuple(sorted(models))
    return [_pod(row, every) for row in _rows(folder / f"openb_pod_list_{workload}.csv")]


def _pod(row: dict[str, str], every: tuple[str, ...]) -> Pod:
    count = int(row["num_gpu"])
    gpu = int(row["gpu_milli"]) if count == 1 else count * 1000
    spec = row.get("gpu_spec") or ""
    models = tuple(sorted(spec.split("|"))) if spec else every
    return Pod(int(row["cpu_milli"]), int(row["memory_mib"]) * MIB, gpu, models if gpu else ())


def published(folder: Path, policy: str = POLICY) -> dict[str, float]:
    """By workload, the allocated part in per cent that the authors' runs of a policy reached on average at 130 %."""
    sums: dict[str, list[float]] = {}
    for row in _rows(folder / "expected_results" / "analysis_allo_discrete.csv"):
        if row["sc_policy"].lower().endswith(policy) and float(row["tune"]) == 1.3:
            sums.setdefault(row["workload"].removeprefix("openb_pod_list_"), []).append(float(row["130"]))
    return {workload: sum(values) / len(values) for workload, values in sums.items()}


def _rows(file: Path) -> Iterator[dict[str, str]]:
    if not file.is_file():
        raise NotRun(f"{file} is not there; --data FOLDER names the folder that holds openb/")
    with file.open(newline="") as lines:
        yield from csv.DictReader(lines)


def arrivals(of: list[Pod], seed: int, until: int) -> list[Pod]:
    """The pods shuffled, then drawn again, until so many thousandths of devices were asked for."""
    chance = Random(seed)
    shuffled = list(of)
    chance.shuffle(shuffled)
    come: list[Pod] = []
    asked = 0
    while asked < until:
        pod = shuffled[len(come)] if len(come) < len(shuffled) else chance.choice(of)
        come.append(pod)
        asked += pod.gpu
    return come


def fleet(of: list[Node], seen: list[Pod]) -> Snapshot:
    """The empty hosts, one pool that the one tenant may use, and the history `seen`."""
    models = sorted({node.model for node in of})
    return Snapshot(
        at_ms=AT,
        classes=(
            ResourceClass("cpu", "CPU", Resource.CPU),
            ResourceClass("memory", "Memory", Resource.MEMORY),
            *(ResourceClass(model, model, Resource.DEVICE, divisible=True) for model in models),
        ),
        clusters=(Cluster("openb", "openb", AT),),
        pools=(Pool("openb", "openb"),),
        tenants=(Tenant("all", "Everybody"),),
        grants=(Grant("grant", "all", "openb", 0),),
        hosts=tuple(_host(node) for node in of),
        history=tuple(
            Asked(pod.models, pod.gpu * MILLI, _plain(pod), weight) for pod, weight in sorted(Counter(seen).items())
        ),
    )


def _host(node: Node) -> Host:
    lines = (Line(CPU, node.cpu), Line(MEMORY, node.memory))
    devices = tuple(Device(f"{node.name}/{number}", node.model) for number in range(node.gpus))
    return Host(node.name, node.name, "openb", "openb", lines, devices)


def _plain(pod: Pod) -> tuple[Line, ...]:
    return tuple(line for line in (Line(CPU, pod.cpu), Line(MEMORY, pod.memory)) if line.amount)


def jobs(of: list[Pod], first: int = 0) -> list[WaitingJob]:
    """One job per pod; the first came `first` ms after the begin, each other one a millisecond later."""
    ways = {pod: _ways(pod) for pod in set(of)}
    return [
        WaitingJob(
            key=f"pod-{number:06}",
            tenant="all",
            pools=("openb",),
            alternatives=ways[pod],
            submitted_ms=AT + number,
            cheapest_first=True,
            max_wait_ms=0,
        )
        for number, pod in enumerate(of, first)
    ]


def _ways(pod: Pod) -> tuple[Alternative, ...]:
    if not pod.gpu:
        return (Alternative("plain", (PodSet("pod", 1, _plain(pod)),)),)
    wanted = ((model, Line(Axis(model, Resource.DEVICE), pod.gpu * MILLI)) for model in pod.models)
    return tuple(Alternative(model, (PodSet("pod", 1, (line, *_plain(pod))),)) for model, line in wanted)
