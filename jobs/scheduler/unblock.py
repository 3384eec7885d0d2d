"""What would let a waiting job start: changes tried on a copy of the facts, and offered only where they do.

Each offer is proved: the snapshot with that one change made admits the job in its next pass, with everybody else's
jobs in it. Made when somebody asks, for a handful of passes each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from jobs.scheduler.block import Block, Words
from jobs.scheduler.cycle import evaluate_one
from jobs.scheduler.decision import Admit, Decision, Wait
from jobs.scheduler.demand import Demand, Part
from jobs.scheduler.forecast import end_of
from jobs.scheduler.quota import QuotaBook
from jobs.scheduler.rules import Rules
from jobs.scheduler.snapshot import (
    WHOLE_DEVICE,
    Alternative,
    Axis,
    Device,
    Host,
    Line,
    QuotaCell,
    Resource,
    Snapshot,
    WaitingJob,
)

MINUTE_MS = 60_000
MOST_ENDS = 8
"""How many of the next ends are tried, and how many nodes out of service."""


class Change(StrEnum):
    """What would be changed."""

    LIMIT = "limit"  # the job's run-time limit
    SHRINK = "shrink"  # the job's size
    POOL = "pool"  # where the job may run
    OTHER = "other"  # another way to run it: another class
    QUOTA = "quota"  # a quota of its project or of a team above
    END = "end"  # a job that runs, or several, end
    NODE = "node"  # a node that is out of service comes back
    MORE = "more"  # nodes are added to the pool


@dataclass(frozen=True, slots=True)
class Unblocker:
    """One change that lets the job start. `facts` say it in numbers; `edit` makes it on a snapshot."""

    change: Change
    facts: dict[str, Any]
    edit: Callable[[Snapshot], Snapshot]


def unblockers(
    snapshot: Snapshot, rules: Rules, job: WaitingJob, others: Iterable[Alternative] = ()
) -> tuple[Unblocker, ...]:
    """The changes that let `job` start, those its owner can make first. `others`: further ways it could run."""
    return tuple(_Search(snapshot, rules, job).offers(tuple(others)))


class _Search:
    def __init__(self, snapshot: Snapshot, rules: Rules, job: WaitingJob) -> None:
        self._rules = replace(rules, forecast_steps=0)
        self._job = replace(job, max_wait_ms=None)
        self._snapshot = snapshot.with_job(self._job)
        self._now = self._decide(self._snapshot)
        self._words = Words(snapshot.classes)

    def offers(self, others: tuple[Alternative, ...]) -> Iterator[Unblocker]:
        if isinstance(self._now, Admit):
            return
        tries = (self._limit, self._shrink, self._pool, lambda: self._other(others), self._quota)
        around = (self._end, self._node, self._more)
        for attempt in (*tries, *around):
            found = attempt()
            if found is not None and self._starts(found.edit):
                yield found

    def _decide(self, snapshot: Snapshot) -> Decision:
        job = next(job for job in snapshot.waiting if job.key == self._job.key)
        return evaluate_one(snapshot, self._rules, job)

    def _starts(self, edit: Callable[[Snapshot], Snapshot]) -> bool:
        return isinstance(self._decide(edit(self._snapshot)), Admit)

    def _with(self, **changes: Any) -> Callable[[Snapshot], Snapshot]:
        key = self._job.key

        def edit(snapshot: Snapshot) -> Snapshot:
            job = next(job for job in snapshot.waiting if job.key == key)
            return snapshot.with_job(replace(job, **changes))

        return edit

    # -- what its owner can change ------------------------------------------------------------------------------------

    def _limit(self) -> Unblocker | None:
        """A run-time limit that lets it end before the room is needed that is kept for another."""
        gap = self._now.why.facts.get("gap") if isinstance(self._now, Wait) else None
        if not isinstance(gap, int) or gap < MINUTE_MS:
            return None
        limit = gap // MINUTE_MS * MINUTE_MS
        return Unblocker(Change.LIMIT, {"limit": limit}, self._with(time_limit_ms=limit))

    def _shrink(self) -> Unblocker | None:
        """The largest size below its own with which it starts: fewer replicas, or fewer devices of the only one."""
        sizes = _smaller(self._job)
        best = _largest(len(sizes) - 1, lambda number: self._starts(self._with(alternatives=sizes[number][1])))
        if best is None:
            return None
        facts, alternatives = sizes[best]
        return Unblocker(Change.SHRINK, facts, self._with(alternatives=alternatives))

    def _pool(self) -> Unblocker | None:
        """Another pool that its project is granted."""
        for pool in self._snapshot.pools:
            if pool.key not in self._job.pools:
                edit = self._with(pools=(*self._job.pools, pool.key))
                if self._starts(edit):
                    return Unblocker(Change.POOL, {"pool": pool.name, "pool_key": pool.key}, edit)
        return None

    def _other(self, others: tuple[Alternative, ...]) -> Unblocker | None:
        known = {alternative.key for alternative in self._job.alternatives}
        for other in others:
            if other.key not in known:
                edit = self._with(alternatives=(*self._job.alternatives, other))
                if self._starts(edit):
                    return Unblocker(Change.OTHER, {"alternative": other.key}, edit)
        return None

    # -- what somebody else decides -----------------------------------------------------------------------------------

    def _quota(self) -> Unblocker | None:
        """The quota cells that would have to be larger, all of them, each by the least that is enough."""
        for pool, demand in self._ways():
            raised = self._raised(pool, demand)
            if raised:
                edit = _with_cells(raised)
                if self._starts(edit):
                    return Unblocker(Change.QUOTA, {"pool_key": pool, "cells": tuple(raised)}, edit)
        return None

    def _raised(self, pool: str, demand: Demand) -> list[QuotaCell]:
        snapshot, raised = self._snapshot, dict[tuple[str, Axis], QuotaCell]()
        for _ in range(32):  # each turn lifts one bound: those of a path and a few axes
            block = QuotaBook(snapshot, self._words).check(self._job.tenant, pool, demand.total)
            if block is None:
                return [raised[key] for key in sorted(raised)]
            cell = _limiting(snapshot, block, pool)
            if cell is None:
                return []
            more = _larger(cell, int(block.facts["short_by"]))
            raised[cell.tenant, cell.axis] = more
            snapshot = _with_cells([more])(snapshot)
        return []

    def _end(self) -> Unblocker | None:
        """The first instant of those to come at which enough has ended by its limit."""
        at = self._snapshot.at_ms
        pools = set(self._job.pools)
        held = [h for h in self._snapshot.holdings if h.pool in pools and (end_of(h, at) or at) > at]
        for end in sorted({h.ends_ms for h in held if h.ends_ms is not None})[:MOST_ENDS]:
            edit = _after(end)
            if self._starts(edit):
                jobs = tuple(sorted({h.job for h in held if h.ends_ms is not None and h.ends_ms <= end}))
                return Unblocker(Change.END, {"t": end, "jobs": jobs}, edit)
        return None

    def _node(self) -> Unblocker | None:
        """One node that is out of service."""
        down = [h for h in self._snapshot.hosts if h.blocked is not None and h.pool in self._job.pools]
        for host in down[:MOST_ENDS]:
            edit = _back_in_service(host.key)
            if self._starts(edit):
                return Unblocker(Change.NODE, {"node": host.name, "node_key": host.key, "cause": host.blocked}, edit)
        return None

    def _more(self) -> Unblocker | None:
        """The least room that would have to be added for replicas of its size, as one node in one cluster."""
        for pool, demand in self._ways():
            if len(demand.parts) != 1:
                continue
            part, site = demand.parts[0], self._site(pool)
            if site is None:
                continue
            enough = self._enough(site, part)
            if enough is not None:
                total = tuple(Line(axis, amount * enough) for axis, amount in part.lines)
                facts = {"pool_key": pool, "replicas": enough, "lines": total}
                return Unblocker(Change.MORE, facts, _with_host(site, part.lines, enough, self._job))
        return None

    def _enough(self, site: tuple[str, str], part: Part) -> int | None:
        return _smallest(part.replicas, lambda n: self._starts(_with_host(site, part.lines, n, self._job)))

    def _ways(self) -> Iterator[tuple[str, Demand]]:
        for alternative in self._job.alternatives:
            for pool in self._job.pools:
                yield pool, Demand(alternative.pod_sets)

    def _site(self, pool: str) -> tuple[str, str] | None:
        """The cluster of the pool with most of its nodes, the first of equal ones."""
        stale = {cluster.key for cluster in self._snapshot.clusters if cluster.stale}
        clusters = [h.cluster for h in self._snapshot.hosts if h.pool == pool and h.cluster not in stale]
        if not clusters:
            return None
        return pool, max(sorted(set(clusters)), key=clusters.count)


def _smaller(job: WaitingJob) -> list[tuple[dict[str, Any], tuple[Alternative, ...]]]:
    """Sizes below a job's own, the smallest first; none for jobs of several pod sets."""
    if any(len(alternative.pod_sets) != 1 for alternative in job.alternatives):
        return []
    first = job.alternatives[0].pod_sets[0]
    if first.count > 1:
        return [({"replicas": n, "of": first.count}, _each(job, count=n)) for n in range(1, first.count)]
    kinds = {kind for a in job.alternatives for kind in a.pod_sets[0].lines if kind.axis.resource is Resource.DEVICE}
    most = min((line.amount // WHOLE_DEVICE for line in kinds), default=0)
    return [({"devices": n, "of": most}, _each(job, devices=n * WHOLE_DEVICE)) for n in range(1, most)]


def _each(job: WaitingJob, count: int | None = None, devices: int | None = None) -> tuple[Alternative, ...]:
    """The alternatives of a job with another number of replicas, or of devices in each."""

    def lines(of: tuple[Line, ...]) -> tuple[Line, ...]:
        changed = (line.axis.resource is Resource.DEVICE and devices is not None for line in of)
        return tuple(Line(line.axis, devices or 0) if new else line for line, new in zip(of, changed, strict=True))

    return tuple(
        replace(a, pod_sets=tuple(replace(p, count=count or p.count, lines=lines(p.lines)) for p in a.pod_sets))
        for a in job.alternatives
    )


def _largest(last: int, works: Callable[[int], bool]) -> int | None:
    """The largest number up to `last` that works, where each smaller one does too."""
    if last < 0 or not works(0):
        return None
    low, high = 0, last
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if works(middle) else (low, middle - 1)
    return low


def _smallest(most: int, works: Callable[[int], bool]) -> int | None:
    """The smallest number from 1 to `most` that works, where each larger one does too."""
    if not works(most):
        return None
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle + 1, high)
    return low


def _limiting(snapshot: Snapshot, block: Block, pool: str) -> QuotaCell | None:
    found = (c for c in snapshot.cells if (c.tenant, c.pool, c.axis) == (block.tenant, pool, block.axis))
    return next(found, None)


def _larger(cell: QuotaCell, more: int) -> QuotaCell:
    """The cell with both its bounds raised, where it has them."""
    nominal = None if cell.nominal is None else cell.nominal + more
    ceiling = None if cell.ceiling is None else max(cell.ceiling + more, nominal or 0)
    return replace(cell, nominal=nominal, ceiling=ceiling)


def _with_cells(cells: Iterable[QuotaCell]) -> Callable[[Snapshot], Snapshot]:
    changed = {(cell.tenant, cell.pool, cell.axis): cell for cell in cells}

    def edit(snapshot: Snapshot) -> Snapshot:
        kept = tuple(c for c in snapshot.cells if (c.tenant, c.pool, c.axis) not in changed)
        return replace(snapshot, cells=(*kept, *changed.values()))

    return edit


def _after(end_ms: int) -> Callable[[Snapshot], Snapshot]:
    def edit(snapshot: Snapshot) -> Snapshot:
        left = tuple(h for h in snapshot.holdings if (end := end_of(h, snapshot.at_ms)) is None or end > end_ms)
        return replace(snapshot, at_ms=end_ms, holdings=left)

    return edit


def _back_in_service(host: str) -> Callable[[Snapshot], Snapshot]:
    def edit(snapshot: Snapshot) -> Snapshot:
        hosts = tuple(replace(h, blocked=None) if h.key == host else h for h in snapshot.hosts)
        return replace(snapshot, hosts=hosts)

    return edit


def _with_host(
    site: tuple[str, str], lines: tuple[Line, ...], replicas: int, job: WaitingJob
) -> Callable[[Snapshot], Snapshot]:
    """One more host with exactly the room for so many replicas."""
    pool, cluster = site

    def edit(snapshot: Snapshot) -> Snapshot:
        whole = {kind.key: kind.whole for kind in snapshot.classes}
        devices, plain = [], []
        for axis, amount in lines:
            if axis.resource is Resource.DEVICE:
                count = -(-amount // whole.get(axis.class_key, WHOLE_DEVICE)) * replicas
                devices += [Device(f"~new/{axis.class_key}/{n}", axis.class_key) for n in range(count)]
            else:
                plain.append(Line(axis, amount * replicas))
        new = Host("~new", "~new", cluster, pool, tuple(plain), tuple(devices), labels=job.labels)
        return replace(snapshot, hosts=(*snapshot.hosts, new))

    return edit
