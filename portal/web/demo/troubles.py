"""What went wrong in the past of the demo fleet, and which rules were others for a while. Pure but for telling the
simulated clusters."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from jobs.reasons import Reason
from jobs.scheduler.snapshot import Hold, Snapshot
from portal.web.demo.plan import EDGE, NPU
from portal.web.demo.replay import Replay
from resources.drivers.simulated.driver import SimulatedDriver
from resources.drivers.simulated.faults import FaultKind

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
        replay.change(since + _NOTICED, _blocking(node, "NodeStatusUnknown"))
        replay.change(since + lasting + _NOTICED, _blocking(node, None))
    held = Hold(Reason.PROJECT_HELD, {"project": "Open corpus", "cause": "BudgetUsedUp"})
    _while(replay, start + timedelta(days=27, hours=9), timedelta(hours=6), _holding(projects["corpus"], held),
           _holding(projects["corpus"], None))  # fmt: skip
    _while(replay, start + timedelta(days=36), timedelta(days=1), _grants_until(projects["mapping"], NPU, start),
           _grants_until(projects["mapping"], NPU, None))  # fmt: skip
    _while(replay, start + timedelta(days=41), timedelta(days=2), _at_once(EDGE, 3), _at_once(EDGE, None))


def _for(driver: SimulatedDriver, kind: FaultKind, since: datetime, lasting: timedelta, **more: object) -> None:
    driver.inflict(kind, since=since, until=since + lasting, **more)  # type: ignore[arg-type]


def _while(replay: Replay, since: datetime, lasting: timedelta, begin: Edit, end: Edit) -> None:
    replay.change(since, begin)
    replay.change(since + lasting, end)


def _blocking(node: str, word: str | None) -> Edit:
    def edit(base: Snapshot) -> Snapshot:
        return replace(base, hosts=tuple(replace(h, blocked=word) if h.name == node else h for h in base.hosts))

    return edit


def _holding(tenant: str, hold: Hold | None) -> Edit:
    def edit(base: Snapshot) -> Snapshot:
        return replace(base, tenants=tuple(replace(t, hold=hold) if t.key == tenant else t for t in base.tenants))

    return edit


def _grants_until(tenant: str, pool: str, end: datetime | None) -> Edit:
    ends = int(end.timestamp() * 1_000) + 1 if end else None

    def edit(base: Snapshot) -> Snapshot:
        of = [g for g in base.grants if (g.tenant, g.pool) == (tenant, pool)]
        return replace(base, grants=tuple(replace(g, ends_ms=ends) if g in of else g for g in base.grants))

    return edit


def _at_once(pool: str, most: int | None) -> Edit:
    def edit(base: Snapshot) -> Snapshot:
        grants = tuple(replace(g, most_at_once=most) if g.pool == pool else g for g in base.grants)
        return replace(base, grants=grants)

    return edit
