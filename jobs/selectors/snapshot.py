"""The database as the scheduler's Snapshot: a handful of queries, whatever the number of rows."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, Max, Q

from jobs.models import AllocationLine, DeviceHold, Job
from jobs.paths import PATHS
from jobs.reasons import Reason
from jobs.scheduler import snapshot as s
from jobs.selectors.reach import Reach, load_reach
from jobs.states import HOLDS_CAPACITY, AllocationState, JobState
from portal.lib.clock import to_ms
from portal.lib.localised import localised
from resources.models import Cluster, Node, Pool, RateVersion, ResourceClass
from resources.selectors.driver_versions import drivers_by_class
from resources.selectors.freshness import is_stale
from resources.selectors.rates import UNIT_OF, rates_in_force
from tenants.models import QuotaCell, Team

CLAIM_LASTS, LATELY = timedelta(minutes=15), timedelta(hours=24)
_STOPPED_FOR = [Reason.PREEMPTED, Reason.RECLAIMED, Reason.EVENED_OUT]
_ON_A_CLUSTER = [JobState.STARTING, JobState.RUNNING, JobState.STOPPING]


def load_snapshot(*, now: datetime, waiting: Iterable[Job] | None = None, reach: Reach | None = None) -> s.Snapshot:
    """All facts of one cycle at `now`. `waiting` replaces the queued jobs (preview adds its candidate)."""
    jobs = queued_jobs() if waiting is None else waiting
    reach = reach or load_reach()
    return s.Snapshot.of(
        at_ms=to_ms(now),
        classes=_classes(),
        rates=_rates(now),
        clusters=_clusters(now),
        pools=tuple(
            s.Pool(key=p.key, name=localised(p.name, p.key), borrowing=p.borrowing) for p in Pool.objects.all()
        ),
        hosts=_hosts(),
        tenants=_tenants(reach),
        cells=_cells(),
        grants=_grants(reach),
        waiting=tuple(waiting_job(job, reach, now) for job in jobs),
        holdings=_holdings(),
        running=_running(now),
    )


def fleet_of(nodes: Sequence[Node], now: datetime) -> s.Snapshot:
    """These nodes of pools and what is held on them: enough to tell what has room. No tenant, quota or queue.

    Their clusters should be selected, their groups, classes and devices prefetched. Three queries.
    """
    clusters = {node.cluster.key: node.cluster for node in nodes if node.cluster.state != Cluster.State.DETACHED}
    there = [node for node in nodes if node.cluster.key in clusters and node.stage != Node.Stage.RETIRED]
    return s.Snapshot.of(
        at_ms=to_ms(now),
        classes=_classes(),
        clusters=tuple(_cluster(cluster, now) for cluster in clusters.values()),
        hosts=tuple(_host(node) for node in there),
        holdings=_holdings(node__in=[node.pk for node in there]),
    )


def queued_jobs() -> Iterable[Job]:
    """Every job that waits for the cycle."""
    return Job.objects.filter(state=JobState.QUEUED).order_by("submitted_at", "id")


def waiting_job(job: Job, reach: Reach, now: datetime) -> s.WaitingJob:
    """A job in the scheduler's words; works on one that is not saved (preview).

    A job that chose no pool may run in any its project is granted now, not when it was submitted.
    """
    return s.WaitingJob(
        key=str(job.pk),
        tenant=str(job.project_id),
        pools=reach.pools_for(job),
        alternatives=tuple(alternative(a) for a in job.alternatives),
        submitted_ms=to_ms(job.submitted_at),
        priority_class=s.PriorityClass(job.priority_class),
        priority=job.priority,
        attempt=job.generation,
        gang=job.gang,
        time_limit_ms=job.time_limit_ms,
        max_wait_ms=job.max_wait_ms,
        excluded_hosts=tuple(job.excluded_nodes),
        host=str(job.validates_id) if job.validates_id else None,
        hold=reach.hold_for(job),
        claims=_claim(job, now),
        runtime=job.runtime_key,
        drivers=reach.drivers_of_runtime.get(job.runtime_key, ""),
    )


def alternative(raw: dict[str, Any]) -> s.Alternative:
    """One way to run a job, from its stored form."""
    return s.Alternative(
        key=raw["key"],
        pod_sets=tuple(
            s.PodSet(
                name=p["name"],
                count=p["count"],
                lines=tuple(s.Line(s.Axis(k, s.Resource(r)), amount) for k, r, amount in p["lines"]),
            )
            for p in raw["pod_sets"]
        ),
    )


def _classes() -> tuple[s.ResourceClass, ...]:
    rows = ResourceClass.objects.filter(retired_at__isnull=True)
    return tuple(
        s.ResourceClass(key=c.key, name=localised(c.name, c.key), resource=s.Resource(c.resource))
        for c in rows
        if c.resource in set(s.Resource)
    )


def _rates(now: datetime) -> tuple[s.Rate, ...]:
    return tuple(_rate(row) for row in rates_in_force(now) if row.price_micro is not None)


def _rate(row: RateVersion) -> s.Rate:
    assert row.price_micro is not None
    return s.Rate(s.Axis(row.class_key, s.Resource(row.resource)), micro=row.price_micro, per=UNIT_OF[row.resource])


def _clusters(now: datetime) -> tuple[s.Cluster, ...]:
    return tuple(_cluster(row, now) for row in Cluster.objects.exclude(state=Cluster.State.DETACHED))


def _cluster(row: Cluster, now: datetime) -> s.Cluster:
    return s.Cluster(
        key=row.key,
        name=row.name,
        observed_ms=to_ms(row.last_seen_at) if row.last_seen_at else 0,
        stale=is_stale(row.last_seen_at, now),
    )


def _hosts() -> tuple[s.Host, ...]:
    nodes = (
        Node.objects.filter(pool__isnull=False)
        .exclude(cluster__state=Cluster.State.DETACHED)
        .exclude(stage=Node.Stage.RETIRED)
        .select_related("cluster", "pool")
        .prefetch_related("groups__resource_class", "groups__devices")
    )
    return tuple(_host(node) for node in nodes)


def _host(node: Node) -> s.Host:
    assert node.pool is not None
    devices = tuple(
        s.Device(key=str(device.pk), class_key=group.resource_class.key, healthy=device.healthy)
        for group in node.groups.all()
        if group.resource_class is not None
        for device in group.devices.all()
    )
    return s.Host(
        key=str(node.pk),
        name=node.name,
        cluster=node.cluster.key,
        pool=node.pool.key,
        allocatable=(
            s.Line(s.Axis("cpu", s.Resource.CPU), node.cpu_allocatable_milli),
            s.Line(s.Axis("memory", s.Resource.MEMORY), node.memory_allocatable_bytes),
        ),
        devices=devices,
        foreign=tuple(_foreign(node)),
        slots=None if node.pods is None else max(0, node.pods - node.foreign.get("pods", 0)),
        blocked=_blocked(node),
        trial=node.stage == Node.Stage.VALIDATING and node.cluster.state == Cluster.State.ATTACHED,
        topology=tuple(node.topology),
        labels=tuple(sorted((str(k), str(v)) for k, v in node.labels.items())),
        drivers=tuple(drivers_by_class(node).items()),
        known_driver_only=node.pool.known_driver_only,
    )


def _foreign(node: Node) -> Iterator[s.Line]:
    """What others hold there, of what the scheduler counts."""
    for resource in (s.Resource.CPU, s.Resource.MEMORY):
        if amount := node.foreign.get(resource.value, 0):
            yield s.Line(s.Axis(resource.value, resource), amount)
    for group in node.groups.all():
        amount = node.foreign.get(group.resource_name, 0)
        if amount and group.resource_class is not None:
            yield s.Line(s.Axis(group.resource_class.key, s.Resource.DEVICE), amount * group.whole)


def _blocked(node: Node) -> str | None:
    if node.cluster.state == Cluster.State.PAUSED:
        return "ClusterPaused"
    if node.stage != Node.Stage.SCHEDULABLE:
        return node.why or str(node.stage).capitalize()
    return None


def _tenants(reach: Reach) -> tuple[s.Tenant, ...]:
    teams = [
        s.Tenant(key=str(pk), name=name, parent=str(parent) if parent else None)
        for pk, name, parent in Team.objects.values_list("pk", "name", "parent_id")
    ]
    projects = [
        s.Tenant(key=str(p.pk), name=p.name, parent=str(p.team_id), hold=_hold(p.name, p.held_reason))
        for p in reach.projects
    ]
    return (*teams, *projects)


def _hold(name: str, reason: str) -> s.Hold | None:
    return s.Hold(reason=Reason.PROJECT_HELD, facts={"project": name, "cause": reason}) if reason else None


def _cells() -> tuple[s.QuotaCell, ...]:
    return tuple(
        s.QuotaCell(
            tenant=str(c.team_id or c.project_id),
            pool=c.pool_key,
            axis=s.Axis(c.class_key, s.Resource(c.resource)),
            guarantee=c.guarantee,
            nominal=c.nominal,
            ceiling=c.ceiling,
        )
        for c in QuotaCell.objects.all()
    )


def _grants(reach: Reach) -> tuple[s.Grant, ...]:
    return tuple(
        s.Grant(
            key=str(g.pk),
            tenant=str(g.team_id or g.project_id),
            pool=g.pool_key,
            starts_ms=to_ms(g.valid_from),
            ends_ms=to_ms(g.valid_to) if g.valid_to else None,
            priority_ceiling=s.PriorityClass(g.class_ceiling) if g.class_ceiling else None,
            largest_job=((s.Resource.DEVICE, g.largest_job_parts),) if g.largest_job_parts is not None else (),
            longest_limit_ms=g.longest_limit_ms,
            most_at_once=g.most_at_once,
        )
        for g in reach.grants
    )


def _claim(job: Job, now: datetime) -> str | None:
    """The pool in which others were stopped for the job. A claim that led to nothing lapses."""
    lasts = job.claims_since is not None and now - job.claims_since < CLAIM_LASTS
    return job.claims_pool or None if lasts else None


def _running(now: datetime) -> tuple[s.Running, ...]:
    """What says of each job on a cluster whether it may be stopped for another. One query."""
    lately = Q(attempts__end_reason__in=_STOPPED_FOR, attempts__stopped_at__gte=now - LATELY)
    jobs = (
        Job.objects.filter(state__in=_ON_A_CLUSTER)
        .order_by()
        .annotate(
            began=Max("attempts__started_at", filter=Q(attempts__ended=False)), turns_lost=Count("attempts", lately)
        )
        .only("state", "priority_class", "priority", "task_type", "validates", "stops_for")
    )
    return tuple(
        s.Running(
            job=str(job.pk),
            priority_class=s.PriorityClass(job.priority_class),
            priority=job.priority,
            preemptible=PATHS[job.task_type].preemptible and job.validates_id is None,
            started_ms=to_ms(job.began) if job.began else None,
            preempted=job.turns_lost,
            stopping_for=str(job.stops_for_id) if job.stops_for_id and job.state == JobState.STOPPING else None,
        )
        for job in jobs
    )


def _holdings(**where: Any) -> tuple[s.Holding, ...]:
    """What allocations hold now, one row per allocation and host; `where` narrows the lines."""
    states = [state.value for state in HOLDS_CAPACITY]
    rows = (
        AllocationLine.objects.filter(allocation__state__in=states, **where)
        .annotate(
            alloc_state=F("allocation__state"),
            alloc_pool=F("allocation__pool_key"),
            tenant=F("allocation__project_id"),
            job=F("allocation__attempt__job_id"),
            limit=F("allocation__attempt__job__time_limit_ms"),
            started=F("allocation__attempt__started_at"),
            admitted=F("allocation__attempt__admitted_at"),
        )
        .order_by("allocation_id", "node_id")
    )
    shares: dict[tuple[Any, Any], list[s.DeviceShare]] = defaultdict(list)
    there = {f"line__{name}": value for name, value in where.items()}
    holds = DeviceHold.objects.filter(Q(released=False), line__allocation__state__in=states, **there)
    for allocation, node, device, parts in holds.values_list(
        "line__allocation_id", "line__node_id", "device_id", "parts"
    ):
        shares[allocation, node].append(s.DeviceShare(str(device), parts))
    groups: dict[tuple[Any, Any], list[Any]] = defaultdict(list)
    for row in rows:
        groups[row.allocation_id, row.node_id].append(row)
    return tuple(_holding(key, lines, shares.get(key, [])) for key, lines in groups.items())


def _holding(key: tuple[Any, Any], lines: list[Any], shares: list[s.DeviceShare]) -> s.Holding:
    first = lines[0]
    amounts: dict[s.Axis, int] = defaultdict(int)
    for line in lines:
        amounts[s.Axis(line.class_key, s.Resource(line.resource))] += line.quantity
    begun = first.started or first.admitted
    return s.Holding(
        allocation=str(key[0]),
        job=str(first.job),
        tenant=str(first.tenant),
        pool=first.alloc_pool,
        host=str(key[1]),
        state=AllocationState(first.alloc_state),
        lines=tuple(s.Line(axis, amount) for axis, amount in amounts.items()),
        devices=tuple(shares),
        pods=len({line.member for line in lines}),
        ends_ms=to_ms(begun) + first.limit if first.limit is not None else None,
    )
