"""The words in which scenarios are told: a small fleet, its tenants and jobs, in people's units.

`Given` collects facts and makes a Snapshot of them; `when_the_cycle_runs` gives an `Outcome` to look into.
Cards, cores and GiB are turned into base units here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self

from jobs.scheduler.cycle import cycle
from jobs.scheduler.decision import Admit, CycleResult, Decision, Expire, Never, Wait
from jobs.scheduler.rules import Rules
from jobs.scheduler.snapshot import (
    WHOLE_DEVICE,
    Alternative,
    Axis,
    Cluster,
    Device,
    DeviceShare,
    Grant,
    Holding,
    Host,
    Line,
    PodSet,
    Pool,
    PriorityClass,
    QuotaCell,
    Rate,
    Resource,
    ResourceClass,
    Running,
    Snapshot,
    Tenant,
    WaitingJob,
)
from jobs.states import AllocationState

NOON = 1_796_040_000_000  # 2026-11-30 12:00 UTC
MINUTE = 60_000
HOUR = 60 * MINUTE
GIB = 1 << 30
CPU = Axis("cpu", Resource.CPU)
MEMORY = Axis("memory", Resource.MEMORY)
CARDS = Axis("a100", Resource.DEVICE)


def cards_of(class_key: str) -> Axis:
    """The device axis of a class."""
    return Axis(class_key, Resource.DEVICE)


def lines(cards: float = 0, cores: float = 0, gib: float = 0, of: str = "a100") -> tuple[Line, ...]:
    """Demand lines in people's units; a fraction of a card is a part of one device."""
    amounts = (
        (cards_of(of), round(cards * WHOLE_DEVICE)),
        (CPU, round(cores * 1000)),
        (MEMORY, round(gib * GIB)),
    )
    return tuple(Line(axis, amount) for axis, amount in amounts if amount)


def alternative(key: str = "only", replicas: int = 1, **demand: Any) -> Alternative:
    """One pod set of equal replicas."""
    return Alternative(key, (PodSet("workers", replicas, lines(**demand)),))


@dataclass
class Outcome:
    """What the cycle answered."""

    snapshot: Snapshot
    result: CycleResult

    def of(self, job: str) -> Decision:
        """The one decision about a job."""
        (decision,) = [decision for decision in self.result.decisions if decision.job == job]
        return decision

    def admitted(self, job: str) -> Admit:
        """The admission of a job; fails when it was not admitted."""
        decision = self.of(job)
        assert isinstance(decision, Admit), decision
        return decision

    def waiting(self, job: str) -> Wait:
        """The wait of a job; fails when it does anything else."""
        decision = self.of(job)
        assert isinstance(decision, Wait), decision
        return decision

    def hosts(self, job: str) -> list[str]:
        """The hosts of an admitted job, one per replica."""
        return [placement.host for placement in self.admitted(job).placements]

    def says(self, job: str) -> str:
        """A decision in one word: "now", or its verdict and reason."""
        decision = self.of(job)
        if isinstance(decision, Admit):
            return "now"
        return f"{decision.verdict}: {decision.why.reason}"

    def facts(self, job: str) -> dict[str, Any]:
        """The facts of the reason of a job that does not start."""
        decision = self.of(job)
        assert isinstance(decision, Wait | Never | Expire), decision
        return decision.why.facts

    def all(self) -> dict[str, str]:
        """Every job and what is said of it."""
        return {decision.job: self.says(decision.job) for decision in self.result.decisions}


@dataclass
class Given:
    """Facts so far. There is an organisation `org`, a cluster `dc` and, once named, a pool granted to `org`."""

    at_ms: int = NOON
    classes: list[ResourceClass] = field(
        default_factory=lambda: [
            ResourceClass("cpu", "CPU", Resource.CPU),
            ResourceClass("memory", "Memory", Resource.MEMORY),
            ResourceClass("a100", "A100", Resource.DEVICE),
        ]
    )
    rates: list[Rate] = field(default_factory=list)
    clusters: list[Cluster] = field(default_factory=lambda: [Cluster("dc", "Data centre", NOON)])
    pools: list[Pool] = field(default_factory=list)
    host_rows: list[Host] = field(default_factory=list)
    tenants: list[Tenant] = field(default_factory=lambda: [Tenant("org", "Org")])
    cells: list[QuotaCell] = field(default_factory=list)
    grants: list[Grant] = field(default_factory=list)
    jobs: list[WaitingJob] = field(default_factory=list)
    holdings: list[Holding] = field(default_factory=list)
    runs: list[Running] = field(default_factory=list)

    def device_class(self, key: str, **facts: Any) -> Self:
        """Another device class in the catalogue, or new facts about one."""
        self.classes = [kind for kind in self.classes if kind.key != key]
        self.classes.append(ResourceClass(key, key.upper(), Resource.DEVICE, **facts))
        return self

    def cluster(self, key: str, **facts: Any) -> Self:
        """A cluster, or new facts about one."""
        self.clusters = [cluster for cluster in self.clusters if cluster.key != key]
        self.clusters.append(Cluster(key, key.upper(), facts.pop("observed_ms", NOON), **facts))
        return self

    def pool(self, key: str, *, granted: bool = True, **facts: Any) -> Self:
        """A pool, by default granted to the whole organisation."""
        self.pools.append(Pool(key, key.capitalize(), **facts))
        return self.granted("org", key) if granted else self

    def granted(self, tenant: str, pool: str = "train", **bounds: Any) -> Self:
        """A grant that began long ago, unless said otherwise."""
        bounds = {"starts_ms": 0, **bounds}
        self.grants.append(Grant(f"grant-{len(self.grants)}", tenant, pool, **bounds))
        return self

    def host(
        self,
        key: str,
        cards: int = 0,
        cores: int = 64,
        gib: int = 256,
        *,
        of: str = "a100",
        pool: str = "train",
        cluster: str = "dc",
        broken: int = 0,
        **facts: Any,
    ) -> Self:
        """A host whose first `broken` cards are unhealthy; its devices are called `<host>/0` and so on."""
        devices = tuple(Device(f"{key}/{i}", of, healthy=i >= broken) for i in range(cards))
        allocatable = lines(cores=cores, gib=gib)
        self.host_rows.append(Host(key, key, cluster, pool, allocatable, devices, **facts))
        return self

    def hosts(self, names: Iterable[str], *size: int, **facts: Any) -> Self:
        """Several equal hosts."""
        for name in names:
            self.host(name, *size, **facts)
        return self

    def tenant(self, key: str, parent: str = "org", **facts: Any) -> Self:
        """A team or project below another tenant."""
        self.tenants.append(Tenant(key, key.capitalize(), parent, **facts))
        return self

    def quota(
        self,
        tenant: str,
        guarantee: float | None = None,
        nominal: float | None = None,
        ceiling: float | None = None,
        *,
        axis: Axis = CARDS,
        pool: str = "train",
    ) -> Self:
        """A quota cell, in cards unless another axis is named (then in base units)."""
        unit = WHOLE_DEVICE if axis.resource is Resource.DEVICE else 1
        amounts = [None if n is None else round(n * unit) for n in (guarantee, nominal, ceiling)]
        self.cells.append(QuotaCell(tenant, pool, axis, *amounts))
        return self

    def rate(self, axis: Axis, micro: int, per: int) -> Self:
        """A price for `per` units over an hour."""
        self.rates.append(Rate(axis, micro, per))
        return self

    def running(
        self,
        job: str,
        host: str,
        cards: float = 0,
        cores: float = 1,
        gib: float = 1,
        *,
        tenant: str = "lab",
        ends_in: int | None = None,
        state: AllocationState = AllocationState.BOUND,
        of: str = "a100",
    ) -> Self:
        """A job that holds something on a host: the first devices nobody holds, or a part of the first free."""
        (facts,) = [row for row in self.host_rows if row.key == host]
        taken = {share.device for holding in self.holdings for share in holding.devices}
        free = [d.key for d in facts.devices if d.class_key == of and d.key not in taken]
        parts = round(cards * WHOLE_DEVICE)
        shares = [(free[i], min(WHOLE_DEVICE, parts - i * WHOLE_DEVICE)) for i in range(-(-parts // WHOLE_DEVICE))]
        self.holdings.append(
            Holding(
                allocation=f"alloc-{job}",
                job=job,
                tenant=tenant,
                pool=facts.pool,
                host=host,
                state=state,
                lines=lines(cards, cores, gib, of),
                devices=tuple(DeviceShare(*share) for share in shares),
                ends_ms=None if ends_in is None else self.at_ms + ends_in,
            )
        )
        return self

    def may_stop(self, *jobs: str, ago: int = HOUR, **facts: Any) -> Self:
        """Running jobs that may be stopped for others, begun so long ago."""
        given: dict[str, Any] = {"priority_class": PriorityClass.STANDARD, "started_ms": self.at_ms - ago, **facts}
        self.runs += [Running(job, **given) for job in jobs]
        return self

    def job(
        self,
        key: str,
        cards: float = 0,
        cores: float = 1,
        gib: float = 1,
        *,
        replicas: int = 1,
        of: str = "a100",
        tenant: str = "lab",
        **facts: Any,
    ) -> Self:
        """A waiting job; jobs are submitted a minute apart in the order they are told, the first an hour ago."""
        given: dict[str, Any] = {
            "pools": ("train",),
            "alternatives": (alternative("only", replicas, cards=cards, cores=cores, gib=gib, of=of),),
            "submitted_ms": self.at_ms - HOUR + len(self.jobs) * MINUTE,
            **facts,
        }
        self.jobs.append(WaitingJob(key, tenant, **given))
        return self

    def snapshot(self) -> Snapshot:
        """All facts told so far."""
        return Snapshot(
            at_ms=self.at_ms,
            classes=tuple(self.classes),
            rates=tuple(self.rates),
            clusters=tuple(self.clusters),
            pools=tuple(self.pools),
            hosts=tuple(self.host_rows),
            tenants=tuple(self.tenants),
            cells=tuple(self.cells),
            grants=tuple(self.grants),
            waiting=tuple(self.jobs),
            holdings=tuple(self.holdings),
            running=tuple(self.runs),
        )

    def when_the_cycle_runs(self, rules: Rules | None = None) -> Outcome:
        """One pass over these facts."""
        snapshot = self.snapshot()
        return Outcome(snapshot, cycle(snapshot, rules or Rules()))


def a_lab(*hosts: str, cards: int = 8) -> Given:
    """The usual beginning: project `lab`, pool `train`, some hosts of eight cards."""
    return Given().tenant("lab").pool("train").hosts(hosts or ("n1",), cards)


def applied(snapshot: Snapshot, result: CycleResult) -> Snapshot:
    """The snapshot after every admission of the result has been carried out."""
    admits = [decision for decision in result.decisions if isinstance(decision, Admit)]
    jobs = {job.key: job for job in snapshot.waiting}
    held = [holding for admit in admits for holding in _holdings(admit, jobs[admit.job], snapshot.at_ms)]
    left = tuple(job for job in snapshot.waiting if job.key not in {admit.job for admit in admits})
    return replace(snapshot, waiting=left, holdings=(*snapshot.holdings, *held))


def _holdings(admit: Admit, job: WaitingJob, at_ms: int) -> Iterable[Holding]:
    """One holding per replica, as an allocation would be written."""
    for index, placement in enumerate(admit.placements):
        yield Holding(
            allocation=f"new-{admit.job}-{index}",
            job=admit.job,
            tenant=job.tenant,
            pool=admit.pool,
            host=placement.host,
            state=AllocationState.RESERVED,
            lines=placement.lines,
            devices=placement.devices,
            ends_ms=None if job.time_limit_ms is None else at_ms + job.time_limit_ms,
        )
