"""What the cycle knows: plain rows of facts at one instant, with nothing computed from them.

Amounts are integers in base units (milli-CPU, bytes, device parts); instants are UTC milliseconds, spans are
milliseconds. None means "no rule" or "not known" and is never 0. Keys are opaque, unique within their kind.
Rows may come in any order; the snapshot sorts them, so that equal facts give equal bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

from jobs.reasons import Reason
from jobs.scheduler import codec
from jobs.states import AllocationState

WHOLE_DEVICE = 42_000
FORMAT = 1


class Resource(StrEnum):
    """What is counted of a resource class: one axis of every demand, capacity and quota."""

    CPU = "cpu"
    MEMORY = "memory"
    DEVICE = "device"
    STORAGE = "storage"


class PriorityClass(StrEnum):
    """The band a job is ordered by before anything else, first member first."""

    SYSTEM = "system"
    RESERVED = "reserved"
    PRODUCTION = "production"
    STANDARD = "standard"
    BEST_EFFORT = "best_effort"

    @property
    def rank(self) -> int:
        """0 for the class that goes first."""
        return _CLASS_RANK[self]


_CLASS_RANK = {member: rank for rank, member in enumerate(PriorityClass)}


class Axis(NamedTuple):
    """One countable thing: a resource of a resource class; CPU and memory belong to classes of their own."""

    class_key: str
    resource: Resource


class Line(NamedTuple):
    """An amount on one axis. Of devices: n times whole for n whole ones, or less than one whole."""

    axis: Axis
    amount: int


class DeviceShare(NamedTuple):
    """Parts of one concrete device."""

    device: str
    parts: int


@dataclass(frozen=True, slots=True)
class Hold:
    """Why something may not start although there is room: a HELD reason and its facts."""

    reason: Reason
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ResourceClass:
    """A resource class of the catalogue (Kueue: ResourceFlavor)."""

    key: str
    name: str
    resource: Resource
    whole: int = WHOLE_DEVICE  # parts of one device; every device of the class has this many
    divisible: bool = False  # whether a job may hold a part of a device


@dataclass(frozen=True, slots=True)
class Rate:
    """The internal price in force: `micro` millionths of the currency for `per` units over one hour."""

    axis: Axis
    micro: int
    per: int


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster; a stale one is not placed on until it reports again."""

    key: str
    name: str
    observed_ms: int
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool, maybe over several clusters. `levels` names the steps of `Host.topology`, outermost first.

    Topology is carried for the record: placement does not look at it yet.
    """

    key: str
    name: str
    borrowing: bool = False
    hold: Hold | None = None
    levels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Device:
    """One concrete device of a host. `foreign` parts are held by something this portal does not run."""

    key: str
    class_key: str
    healthy: bool = True
    foreign: int = 0


@dataclass(frozen=True, slots=True)
class Host:
    """A node of a cluster, in exactly one pool.

    `allocatable` leaves out devices, which are listed one by one, and what every node always runs; `foreign`
    is what other pods not ours request. `slots` is how many pods fit beside those (None: no such bound).
    A host that is `blocked` takes nothing new; the word is why (cordoned, draining, unhealthy and the like). On
    `trial` it takes one all the same: the job that is pinned to it, whose end decides whether it takes others.
    """

    key: str
    name: str
    cluster: str
    pool: str
    allocatable: tuple[Line, ...]
    devices: tuple[Device, ...] = ()
    foreign: tuple[Line, ...] = ()
    slots: int | None = None
    blocked: str | None = None
    topology: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    trial: bool = False
    drivers: tuple[tuple[str, tuple[str, ...]], ...] = ()  # by class of device their versions, "" for one not known
    known_driver_only: bool = False  # not for runtimes that state a range, where the version is not known


@dataclass(frozen=True, slots=True)
class Tenant:
    """A node of the tenant tree: organisation, team or project. A hold stops starts in its subtree."""

    key: str
    name: str
    parent: str | None = None
    hold: Hold | None = None


@dataclass(frozen=True, slots=True)
class QuotaCell:
    """A quota rule: always yours (never lent), normally yours, at most. None = no rule, 0 = none allowed."""

    tenant: str
    pool: str
    axis: Axis
    guarantee: int | None = None
    nominal: int | None = None
    ceiling: int | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """Leave for a tenant and all below it to use a pool in `[starts_ms, ends_ms)`, with bounds per job.

    Of several valid ones on the way from the project to the root the nearest counts.
    """

    key: str
    tenant: str
    pool: str
    starts_ms: int
    ends_ms: int | None = None
    priority_ceiling: PriorityClass | None = None
    largest_job: tuple[tuple[Resource, int], ...] = ()  # summed over classes of that resource
    longest_limit_ms: int | None = None
    most_at_once: int | None = None  # jobs holding something in the pool, in the tenant's subtree


@dataclass(frozen=True, slots=True)
class PodSet:
    """Equal replicas that run at the same time; `min_count` is the fewest an elastic job accepts.

    Elastic sizes are not used yet: all `count` replicas are placed at once.
    """

    name: str
    count: int
    lines: tuple[Line, ...]  # of one replica
    min_count: int | None = None


@dataclass(frozen=True, slots=True)
class Alternative:
    """One complete way to run a job: classes, and with them counts, may differ between alternatives."""

    key: str
    pod_sets: tuple[PodSet, ...]


@dataclass(frozen=True, slots=True)
class WaitingJob:
    """A job that holds nothing yet. `pools` and `alternatives` are in order of preference.

    A job that names no class lists every fitting one and sets `cheapest_first`. One that cannot start within
    `max_wait_ms` ends; 0 means now or not at all. `not_before_ms` and `excluded_hosts` follow a failed bind.
    `gang` says whether it needs all replicas to begin; for now all are placed at once either way. One that is pinned
    runs on `host` or nowhere. `claims`: the pool in which others were stopped for it; what they give back is its.
    """

    key: str
    tenant: str
    pools: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    submitted_ms: int
    priority_class: PriorityClass = PriorityClass.STANDARD
    priority: int = 0
    attempt: int = 1
    gang: bool = True
    cheapest_first: bool = False
    time_limit_ms: int | None = None
    max_wait_ms: int | None = None
    not_before_ms: int | None = None
    excluded_hosts: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()  # every host used must carry all of them
    hold: Hold | None = None
    host: str | None = None
    claims: str | None = None
    runtime: str = ""
    drivers: str = ""  # the range of driver versions its runtime was declared for; "" takes every one


@dataclass(frozen=True, slots=True)
class Holding:
    """What one allocation holds on one host; an allocation over several hosts is several rows."""

    allocation: str
    job: str
    tenant: str
    pool: str
    host: str
    state: AllocationState
    lines: tuple[Line, ...]
    devices: tuple[DeviceShare, ...] = ()
    pods: int = 1
    ends_ms: int | None = None  # start + time limit; None when nothing bounds it


@dataclass(frozen=True, slots=True)
class Running:
    """What of a job that runs says whether it may be stopped for another; one without such a row may not.

    `saved_ms`: when it last wrote down how far it came (None: it would begin anew). `preempted`: how often it was
    stopped for others lately. `stopping_for`: the waiting job it is being stopped for.
    """

    job: str
    priority_class: PriorityClass
    priority: int = 0
    preemptible: bool = True
    started_ms: int | None = None
    saved_ms: int | None = None
    preempted: int = 0
    stopping_for: str | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """What a project used of a pool before now, weighed less the longer ago it was. Only sizes are compared."""

    tenant: str
    pool: str
    amount: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A shape of pod that was asked for before, `weight` times; placement learns from them what is likely to come.

    `devices` are the parts that one pod asked for of any one of `classes`, `lines` all else.
    """

    classes: tuple[str, ...]
    devices: int
    lines: tuple[Line, ...]
    weight: int


@dataclass(frozen=True, slots=True)
class Leftover:
    """What was learnt of shared devices: one of which `free` thousandths are free keeps `idle` idle in the end.

    A row holds for what is free up to the next one.
    """

    free: int
    idle: int


@dataclass(frozen=True)
class Snapshot:
    """All facts of one cycle."""

    at_ms: int
    classes: tuple[ResourceClass, ...] = ()
    rates: tuple[Rate, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    pools: tuple[Pool, ...] = ()
    hosts: tuple[Host, ...] = ()
    tenants: tuple[Tenant, ...] = ()
    cells: tuple[QuotaCell, ...] = ()
    grants: tuple[Grant, ...] = ()
    waiting: tuple[WaitingJob, ...] = ()
    holdings: tuple[Holding, ...] = ()
    running: tuple[Running, ...] = ()
    spent: tuple[Spent, ...] = ()
    history: tuple[Asked, ...] = ()
    leftovers: tuple[Leftover, ...] = ()
    format: int = FORMAT

    def __post_init__(self) -> None:
        """Bring every table into its one order. Raises ValueError where two rows say one thing twice."""
        for name, identity in _IDENTITY.items():
            object.__setattr__(self, name, _in_order(name, identity, getattr(self, name)))

    @classmethod
    def of(cls, at_ms: int, **rows: Iterable[Any]) -> Snapshot:
        """The snapshot of these rows, field by field, from any iterables."""
        tables: dict[str, Any] = {name: tuple(given) for name, given in rows.items()}
        return cls(at_ms=at_ms, **tables)

    def with_job(self, job: WaitingJob) -> Snapshot:
        """This snapshot with one more job waiting, or with `job` in place of the one of its key."""
        others = (other for other in self.waiting if other.key != job.key)
        return replace(self, waiting=(*others, job))

    def to_json(self) -> bytes:
        """Canonical bytes, for the support bundle and `replay-cycle`."""
        return codec.to_json(self)

    @classmethod
    def from_json(cls, data: bytes) -> Snapshot:
        """The snapshot `to_json` wrote. Raises ValueError on other bytes or another format."""
        snapshot = codec.from_json(cls, data)
        if snapshot.format != FORMAT:
            raise ValueError(f"snapshot format {snapshot.format} is not {FORMAT}")
        return snapshot


def _in_order(name: str, identity: Callable[[Any], Any], rows: Iterable[Any]) -> tuple[Any, ...]:
    ordered = tuple(sorted(rows, key=identity))
    twice = next((a for a, b in pairwise(ordered) if identity(a) == identity(b)), None)
    if twice is not None:
        raise ValueError(f"two {name} rows for {identity(twice)}")
    return ordered


# What identifies a row, and its place: hosts of one pool and cluster stand together, by name.
_IDENTITY: dict[str, Callable[[Any], Any]] = {
    "classes": attrgetter("key"),
    "rates": attrgetter("axis"),
    "clusters": attrgetter("key"),
    "pools": attrgetter("key"),
    "hosts": attrgetter("pool", "cluster", "name", "key"),
    "tenants": attrgetter("key"),
    "cells": attrgetter("tenant", "pool", "axis"),
    "grants": attrgetter("key"),
    "waiting": attrgetter("key"),
    "holdings": attrgetter("allocation", "host"),
    "running": attrgetter("job"),
    "spent": attrgetter("tenant", "pool"),
    "history": attrgetter("classes", "devices", "lines"),
    "leftovers": attrgetter("free"),
}
