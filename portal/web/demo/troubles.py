"""What went wrong in the past of the demo fleet, and which rules were others for a while. Pure but for telling the
simulated clusters."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from jobs.reasons import Reason
from jobs.scheduler.snapshot import (
    WHOLE_DEVICE,
    Axis,
    Cluster,
    Hold,
    Host,
    PriorityClass,
    Resource,
    Snapshot,
)
from portal.web.demo.plan import CLASSES, EDGE, GPU, NPU, OLD
from portal.web.demo.replay import Replay
from resources.drivers.simulated.driver import SimulatedDriver
from resources.drivers.simulated.faults import FaultKind

_HOUR_MS = 3_600_000
_FAR_MS = 1 << 52
_SECOND = "sim-a100-02"
_TABLES = ("classes", "clusters", "pools", "hosts", "tenants", "cells", "grants")
Edit = Callable[[Snapshot], Snapshot]
_NOTICED = timedelta(seconds=15)
"""How long a node is gone before the portal knows."""
DEATHS = (
    ("gpu-hall", "sim-a100-03", timedelta(days=19, hours=9), timedelta(hours=9), ""),
    ("npu-site", "sim-npu-06", timedelta(days=33, hours=13), timedelta(hours=4), "vanish"),
    ("gpu-hall", "sim-h100-03", timedelta(days=46, hours=10), timedelta(hours=2), ""),
)
"""Cluster, node, when, for how long, and how: unknown or vanished."""


def trouble_sites(drivers: Mapping[str, SimulatedDriver], start: datetime, end: datetime) -> list[tuple[str, datetime]]:
    """Tell the clusters what will go wrong; (cluster, moment) of each change of their nodes, in order."""
    changes = []
    for cluster, node, after, lasting, mode in DEATHS:
        since = start + after
        drivers[cluster].inflict(FaultKind.NODE_DEATH, node=node, since=since, until=since + lasting, mode=mode)
        changes += [(cluster, since + _NOTICED), (cluster, since + lasting + _NOTICED)]
    hall, site = drivers["gpu-hall"], drivers["npu-site"]
    _for(hall, FaultKind.NEVER_STARTS, start + timedelta(days=25, hours=8), timedelta(hours=7), node="sim-h100-02")
    _for(
        hall, FaultKind.VANISHED, start + timedelta(days=39, hours=8), timedelta(hours=8), chance=150, delay_ms=600_000
    )
    _for(hall, FaultKind.DUPLICATE, start + timedelta(days=12), timedelta(days=1))
    _for(site, FaultKind.LOSSY, start + timedelta(days=14), timedelta(days=2), chance=200)
    _for(site, FaultKind.SLOW_START, start + timedelta(days=28), timedelta(days=2), delay_ms=90_000)
    _for(site, FaultKind.IMAGE_FAILURE, start + timedelta(days=30, hours=9), timedelta(hours=5), mode="final")
    # Seen on the first day: a card that does not come back after its job.
    _for(hall, FaultKind.LEAKED_DEVICE, end - timedelta(hours=20), timedelta(days=3), node="sim-mig-01")
    return sorted(changes, key=lambda change: change[1])


def trouble_rules(replay: Replay, projects: Mapping[str, str], start: datetime) -> None:
    """Let the scheduler see nodes go and come back, and rules that were others for a while; `projects`: slug -> key."""
    for _cluster, node, after, lasting, _mode in DEATHS:
        since = start + after
        replay.change(since + _NOTICED, _hosts(node, blocked="NodeStatusUnknown"))
        replay.change(since + lasting + _NOTICED, _hosts(node, blocked=None))
    for day, hours, edit in _mishaps(projects):
        _while(replay, start + day, timedelta(hours=hours), edit)


def _mishaps(projects: Mapping[str, str]) -> list[tuple[timedelta, int, Edit]]:
    """When something was set otherwise, for how many hours, and what: one at a time, each put back afterwards."""
    budget = Hold(Reason.PROJECT_HELD, {"project": "Open corpus", "cause": "BudgetUsedUp"})
    corpus, mapping, inspection = projects["corpus"], projects["mapping"], projects["inspection"]
    devices = Axis(CLASSES[OLD], Resource.DEVICE)

    def at(day: int, hour: int = 9) -> timedelta:
        return timedelta(days=day, hours=hour)

    return [
        (at(10), 8, _grants(OLD, longest_limit_ms=6 * _HOUR_MS)),
        (at(13), 8, _grants(OLD, largest_job=((Resource.DEVICE, 2 * WHOLE_DEVICE),))),
        (at(16), 8, _grants(OLD, priority_ceiling=PriorityClass.BEST_EFFORT)),
        (at(20), 8, _cells(corpus, GPU, nominal=4 * WHOLE_DEVICE)),
        (at(22), 8, _cells(inspection, GPU, nominal=2 * WHOLE_DEVICE, ceiling=2 * WHOLE_DEVICE)),
        (at(27), 6, _tenants(corpus, hold=budget)),
        (at(29), 6, lambda base: replace(base, classes=tuple(c for c in base.classes if c.key != CLASSES[OLD]))),
        (at(31), 6, lambda base: replace(base, pools=tuple(p for p in base.pools if p.key != OLD))),
        (at(34), 6, lambda base: replace(base, hosts=tuple(h for h in base.hosts if h.pool != OLD))),
        (at(36), 24, _grants(NPU, mapping, ends_ms=1)),
        (at(38), 24, _grants(NPU, mapping, starts_ms=_FAR_MS)),
        (at(41), 48, _grants(EDGE, most_at_once=3)),
        (at(44), 8, lambda base: replace(base, clusters=tuple(_stale(c) for c in base.clusters))),
        (at(47), 10, lambda base: replace(base, hosts=_one_card(base.hosts, devices.class_key))),
        (at(50), 8, lambda base: replace(base, hosts=_first_only(base.hosts))),
    ]  # fmt: skip


def _for(driver: SimulatedDriver, kind: FaultKind, since: datetime, lasting: timedelta, **more: object) -> None:
    driver.inflict(kind, since=since, until=since + lasting, **more)  # type: ignore[arg-type]


def _while(replay: Replay, since: datetime, lasting: timedelta, edit: Edit) -> None:
    """The edit for a while, then every table it touched as it was, but for what was changed on others meanwhile."""
    kept: list[Snapshot] = []

    def begin(base: Snapshot) -> Snapshot:
        kept.append(base)
        return edit(base)

    def end(base: Snapshot) -> Snapshot:
        before = kept.pop()
        after = edit(before)
        touched = [name for name in _TABLES if getattr(after, name) != getattr(before, name)]
        return replace(base, **{name: getattr(before, name) for name in touched})

    replay.change(since, begin)
    replay.change(since + lasting, end)


def _hosts(node: str, **fields: Any) -> Edit:
    return lambda base: replace(base, hosts=tuple(replace(h, **fields) if h.name == node else h for h in base.hosts))


def _tenants(tenant: str, **fields: Any) -> Edit:
    return lambda base: replace(
        base, tenants=tuple(replace(t, **fields) if t.key == tenant else t for t in base.tenants)
    )


def _cells(tenant: str, pool: str, **fields: Any) -> Edit:
    def edit(base: Snapshot) -> Snapshot:
        mine = [c for c in base.cells if (c.tenant, c.pool) == (tenant, pool)]
        lowered = {c: replace(c, **{"guarantee": 0} | fields) for c in mine}
        return replace(base, cells=tuple(lowered.get(c, c) for c in base.cells))

    return edit


def _grants(pool: str, tenant: str = "", **fields: Any) -> Edit:
    def edit(base: Snapshot) -> Snapshot:
        return replace(
            base,
            grants=tuple(
                replace(g, **fields) if g.pool == pool and tenant in ("", g.tenant) else g for g in base.grants
            ),
        )

    return edit


def _stale(cluster: Cluster) -> Cluster:
    return replace(cluster, stale=cluster.key == "npu-site")


def _one_card(hosts: tuple[Host, ...], class_key: str) -> tuple[Host, ...]:
    """Nodes of the class with one card each: there is room for small jobs only."""
    return tuple(
        replace(h, devices=h.devices[:1]) if any(d.class_key == class_key for d in h.devices) else h for h in hosts
    )


def _first_only(hosts: tuple[Host, ...]) -> tuple[Host, ...]:
    """The general pool with its first node only."""
    return tuple(h for h in hosts if h.pool != OLD or h.name < _SECOND)
