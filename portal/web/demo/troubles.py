"""What went wrong in the past of the demo fleet, and which rules were others for a while. Pure but for telling the
simulated clusters."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from jobs.reasons import Reason
from jobs.scheduler.snapshot import (
    WHOLE_DEVICE,
    Cluster,
    Hold,
    Host,
    Line,
    PriorityClass,
    Resource,
    Snapshot,
)
from portal.web.demo.plan import CLASSES, EDGE, GPU, OLD, SLICE
from portal.web.demo.replay import Replay
from resources.drivers.simulated.driver import SimulatedDriver
from resources.drivers.simulated.faults import FaultKind

_HOUR_MS = 3_600_000
_FAR_MS = 1 << 52
_MONDAY, _TUESDAY, _WEDNESDAY, _THURSDAY, _FRIDAY = range(5)
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
        hall,
        FaultKind.VANISHED,
        start + timedelta(days=39, hours=8),
        timedelta(days=7),
        node="sim-mig-02",
        chance=300,
        delay_ms=600_000,
    )
    _for(hall, FaultKind.DUPLICATE, start + timedelta(days=12), timedelta(days=1))
    _for(site, FaultKind.LOSSY, start + timedelta(days=14), timedelta(days=2), chance=200)
    _for(site, FaultKind.SLOW_START, start + timedelta(days=28), timedelta(days=2), delay_ms=90_000)
    _for(site, FaultKind.IMAGE_FAILURE, start + timedelta(days=30, hours=9), timedelta(hours=5), mode="final")
    # Still seen on the first day: cards that do not come back after their jobs.
    leaking = _morning(start, 7, _TUESDAY)
    _for(hall, FaultKind.LEAKED_DEVICE, leaking, end + timedelta(days=2) - leaking, chance=25)
    return sorted(changes, key=lambda change: change[1])


def trouble_rules(replay: Replay, projects: Mapping[str, str], start: datetime) -> None:
    """Let the scheduler see nodes go and come back, and rules that were others for a while; `projects`: slug -> key."""
    for _cluster, node, after, lasting, _mode in DEATHS:
        since = start + after
        replay.change(since + _NOTICED, _hosts(node, blocked="NodeStatusUnknown"))
        replay.change(since + lasting + _NOTICED, _hosts(node, blocked=None))
    for week, day, hours, edit in _mishaps(projects):
        _while(replay, _morning(start, week, day), timedelta(hours=hours), edit)
    # A pool kept for those who experiment, for a day: the long training jobs that wait for it are told so.
    shut = _morning(start, 7, _MONDAY)
    replay.change_rules(shut, {OLD: (("experiment", "evaluation"), ())})
    replay.change_rules(shut + timedelta(hours=9), replay.reach.rules_of_pool)


def _mishaps(projects: Mapping[str, str]) -> list[tuple[int, int, int, Edit]]:
    """Week, day (Monday is 0), hours, and what was set otherwise for so long; each is put back afterwards.

    On working days, when jobs wait: what can never start by the rules of the moment is not queued to begin with.
    """
    budget = Hold(Reason.PROJECT_HELD, {"project": "Open corpus", "cause": "BudgetUsedUp"})
    corpus, vision, inspection = projects["corpus"], projects["vision"], projects["inspection"]
    none = 2 * WHOLE_DEVICE
    return [
        (1, _TUESDAY, 9, _grants(OLD, longest_limit_ms=6 * _HOUR_MS)),
        (1, _THURSDAY, 20, _grants(OLD, largest_job=((Resource.DEVICE, none),))),
        (1, _FRIDAY, 60, _grants(GPU, largest_job=((Resource.DEVICE, none),))),
        (2, _MONDAY, 9, _grants(OLD, priority_ceiling=PriorityClass.BEST_EFFORT)),
        (2, _THURSDAY, 9, _cells(inspection, GPU, nominal=none)),
        (2, _FRIDAY, 130, _pool_hosts(SLICE, lambda hosts: tuple(replace(h, blocked="Maintenance") for h in hosts))),
        (3, _TUESDAY, 9, _cells(inspection, GPU, nominal=none, ceiling=none)),
        (3, _WEDNESDAY, 6, _grants(SLICE, longest_limit_ms=_HOUR_MS)),
        (3, _THURSDAY, 6, _tenants(corpus, hold=budget)),
        (3, _FRIDAY, 6, lambda base: replace(base, classes=tuple(c for c in base.classes if c.key != CLASSES[OLD]))),
        (4, _TUESDAY, 6, lambda base: replace(base, pools=tuple(p for p in base.pools if p.key != OLD))),
        (4, _WEDNESDAY, 14, _pool_hosts(OLD, _little_memory)),
        (5, _TUESDAY, 9, _grants(OLD, vision, starts_ms=_FAR_MS)),
        (5, _THURSDAY, 12, _grants(EDGE, most_at_once=1)),
        (5, _FRIDAY, 8, lambda base: replace(base, clusters=tuple(_stale(c) for c in base.clusters))),
        (6, _THURSDAY, 8, _pool_hosts(OLD, lambda hosts: hosts[:1])),
        (6, _FRIDAY, 36, _pool_hosts(OLD, _little_memory)),
        (7, _WEDNESDAY, 4, _pool_hosts(OLD, lambda hosts: ())),
        (7, _THURSDAY, 6, _pool_hosts(OLD, lambda hosts: tuple(replace(h, devices=h.devices[:1]) for h in hosts))),
        (7, _FRIDAY, 5, _grants(OLD, vision, ends_ms=1)),
    ]


def _morning(start: datetime, week: int, day: int) -> datetime:
    """Nine o'clock, UTC, of that day in that week of the past."""
    monday = start.replace(hour=9, minute=0, second=0, microsecond=0) - timedelta(days=start.weekday())
    return monday + timedelta(weeks=week, days=day)


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


def _pool_hosts(pool: str, edit: Callable[[tuple[Host, ...]], tuple[Host, ...]]) -> Edit:
    def of(base: Snapshot) -> Snapshot:
        mine = tuple(h for h in base.hosts if h.pool == pool)
        return replace(base, hosts=(*(h for h in base.hosts if h.pool != pool), *edit(mine)))

    return of


def _little_memory(hosts: tuple[Host, ...]) -> tuple[Host, ...]:
    """All but one node with memory for small jobs only: every amount is there, but not on enough nodes."""
    small = (*(replace(h, allocatable=tuple(_lowered(line) for line in h.allocatable)) for h in hosts[1:]),)
    return (*hosts[:1], *small)


def _lowered(line: Line) -> Line:
    return line._replace(amount=200 << 30) if line.axis.resource is Resource.MEMORY else line
