"""Rows for tests, made by the services where one exists and in one line each. `NOW` is the tests' present moment."""

import itertools
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Model

from jobs.models import Allocation, AllocationLine, Artifact, Attempt, Job, JobTemplate, TemplateVersion
from jobs.shipped.catalogue import BATCH
from jobs.states import AllocationState, JobState
from resources.attaching import ConnectionGiven
from resources.drivers.kubernetes.connection import Right
from resources.models import Cluster, ClusterEndpoint, Device, DeviceGroup, Node, Pool, RateVersion, ResourceClass
from resources.services.attach_kubernetes import attach_kubernetes
from resources.services.create_pool import create_pool
from resources.services.define_class import define_class
from resources.services.publish_rate import publish_rate
from resources.services.register_cluster import register_cluster
from tenants.models import Project, QuotaCell, Team, User
from tenants.roles import Role
from tenants.services.create_project import create_project
from tenants.services.create_team import create_team
from tenants.services.grant_role import grant_role
from tenants.services.set_quota import set_quota

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
CARD = 42_000
GIB = 1 << 30
Lines = Iterable[tuple[str, str, int]]
_serial = itertools.count(1)


def ago(**span: int) -> datetime:
    """That long before NOW."""
    return NOW - timedelta(**span)


def make_user(username: str, *roles: tuple[Role, Model], password: str | None = None, language: str = "") -> User:
    """A person with these roles; without a password only force_login lets them in."""
    user = User.objects.create_user(username, password=password, display_name=username.title(), language=language)
    for role, scope in roles:
        grant_role(actor=None, user=user, role=role, scope=scope, now=NOW)
    return user


def make_team(slug: str, parent: Team | None = None, **fields: Any) -> Team:
    """A team; without a parent it is the organisation."""
    return create_team(actor=None, name=slug.title(), slug=slug, parent=parent, now=NOW, **fields)


def make_project(slug: str, team: Team, **fields: Any) -> Project:
    """A project of the team."""
    return create_project(actor=None, name=slug.title(), slug=slug, team=team, now=NOW, **fields)


def make_cluster(key: str = "site", *, seen: datetime | None = NOW, driver: str = "local") -> Cluster:
    """An attached cluster, last seen at `seen`."""
    cluster = register_cluster(actor=None, key=key, name=key.title(), driver=driver, now=NOW)
    Cluster.objects.filter(pk=cluster.pk).update(last_seen_at=seen)
    cluster.refresh_from_db()
    return cluster


def make_kubernetes(key: str, *, server: str = "https://10.1.2.3:6443", **tokens: str) -> Cluster:
    """An attached Kubernetes cluster with an observer's and a runner's token, or these; `server` is not looked at."""
    found = {"observer": f"the-observers-token-of-{key}", "runner": f"the-runners-token-of-{key}"} | tokens
    given = ConnectionGiven(
        server="https://10.1.2.3:6443", tokens={Right(right): token for right, token in found.items()}
    )
    cluster = attach_kubernetes(actor=None, key=key, name=key.title(), given=given, now=NOW)
    ClusterEndpoint.objects.filter(cluster=cluster).update(server=server)
    return cluster


def make_pool(key: str, **fields: Any) -> Pool:
    """A pool that no selector fills; `make_node` puts nodes into it."""
    return create_pool(actor=None, key=key, name={"en": key.title()}, selector={}, now=NOW, **fields)


def make_class(key: str, kind: str, *, price: int | None = None, weight: int | None = None) -> ResourceClass:
    """A resource class; with a price or weight (millionths per unit-hour) also its rate, from 2020 on."""
    row = define_class(actor=None, key=key, name={"en": key.upper(), "zh-hans": f"{key} 类"}, kind=kind, now=NOW)
    if price is not None or weight is not None:
        make_rate(row, price=price, weight=weight)
    return row


def make_rate(
    row: ResourceClass, *, price: int | None, weight: int | None, start: datetime = datetime(2020, 1, 1, tzinfo=UTC)
) -> RateVersion:
    """A rate version from `start` on; it ends the one before."""
    return publish_rate(
        actor=None, resource_class=row, price_micro=price, weight_micro=weight, valid_from=start, now=NOW
    )


def make_node(
    name: str,
    cluster: Cluster,
    pool: Pool | None = None,
    *,
    cpu: int = 8_000,
    memory: int = 32 * GIB,
    cards: int = 0,
    card_class: ResourceClass | None = None,
    seen: datetime = NOW,
    **fields: Any,
) -> Node:
    """A schedulable node; with cards also their device group and devices."""
    values = {"stage": Node.Stage.SCHEDULABLE, "ready": True, "architecture": "x86_64"} | fields
    node = Node.objects.create(
        cluster=cluster,
        pool=pool,
        name=name,
        cpu_milli=cpu,
        cpu_allocatable_milli=cpu,
        memory_bytes=memory,
        memory_allocatable_bytes=memory,
        last_seen_at=seen,
        created_at=NOW,
        **values,
    )
    if cards:
        group = DeviceGroup.objects.create(
            node=node,
            resource_class=card_class,
            resource_name="vendor.example/card",
            kind=card_class.kind if card_class else "GPU",
            model="Model A",
            capacity_parts=cards * CARD,
            allocatable_parts=cards * CARD,
        )
        Device.objects.bulk_create(Device(group=group, uuid=f"{name}-{i}", index=i) for i in range(cards))
    return node


def make_template(
    slug: str = "tests-batch", project: Project | None = None, task_type: str = "batch"
) -> TemplateVersion:
    """The one published version of a template, made on first use."""
    template, _ = JobTemplate.objects.get_or_create(
        slug=slug, defaults={"project": project, "task_type": task_type, "created_at": NOW}
    )
    title = {"en": slug.title(), "zh-hans": f"{slug} 模板"}
    version, _ = TemplateVersion.objects.get_or_create(
        template=template, number=1, defaults={"spec": BATCH.spec() | {"title": title}, "published_at": NOW}
    )
    return version


def make_job(
    project: Project,
    submitter: User,
    *,
    name: str = "",
    state: JobState = JobState.QUEUED,
    reason: str = "NotEvaluated",
    facts: Mapping[str, Any] | None = None,
    submitted: datetime | None = None,
    lines: Lines = (("cpu", "cpu", 1_000),),
    **fields: Any,
) -> Job:
    """A job in any state, without the events that led there."""
    moment = submitted or ago(hours=1)
    version = fields.pop("template_version", None) or make_template()
    pod_set = {"name": "main", "count": 1, "lines": [list(line) for line in lines]}
    values = {"eligible_at": moment, "priority_class": "standard", "task_type": "batch"} | fields
    return Job.objects.create(
        project=project,
        submitter=submitter,
        template_version=version,
        name=name or f"job-{next(_serial)}",
        state=state,
        reason=reason,
        facts=dict(facts or {}),
        reason_at=moment,
        submitted_at=moment,
        alternatives=[{"key": "main", "pod_sets": [pod_set]}],
        **values,
    )


def make_allocation(
    job: Job,
    node: Node,
    lines: Lines = (("cpu", "cpu", 1_000),),
    *,
    reserved: datetime,
    bound: datetime | None = None,
    started: datetime | None = None,
    stopped: datetime | None = None,
    released: datetime | None = None,
    leaked: datetime | None = None,
) -> Allocation:
    """What an attempt of the job held on the node; how far it has come follows from the times given."""
    number = job.attempts.count() + 1
    pool_key = node.pool.key if node.pool else ""
    attempt = Attempt.objects.create(
        job=job,
        number=number,
        cluster=node.cluster,
        pool_key=pool_key,
        workload_name=f"j-{job.id.hex}-{number}",
        reserved_at=reserved,
        admitted_at=reserved,
        bound_at=bound,
        started_at=started,
        stopped_at=stopped,
        released_at=released,
        ended=stopped is not None,
    )
    allocation = Allocation.objects.create(
        attempt=attempt,
        project=job.project,
        pool_key=pool_key,
        state=_state(bound, stopped, released, leaked),
        reserved_at=reserved,
        bound_at=bound,
        releasing_at=stopped,
        released_at=released,
        leaked_at=leaked,
    )
    AllocationLine.objects.bulk_create(
        AllocationLine(allocation=allocation, node=node, member=0, class_key=k, resource=r, quantity=q)
        for k, r, q in lines
    )
    return allocation


def make_artifact(job: Job, kind: str = "result", *, name: str = "", location: str = "/nowhere") -> Artifact:
    """What the job's newest attempt left; its file need not be there."""
    return Artifact.objects.create(
        project=job.project,
        job=job,
        attempt=job.attempts.latest("number"),
        name=name or kind,
        kind=kind,
        location=location,
        bytes=1,
        sha256="0" * 64,
        created_at=NOW,
    )


def _state(
    bound: datetime | None, stopped: datetime | None, released: datetime | None, leaked: datetime | None
) -> AllocationState:
    reached = (
        (released, AllocationState.RELEASED),
        (leaked, AllocationState.LEAKED),
        (stopped, AllocationState.RELEASING),
        (bound, AllocationState.BOUND),
    )
    return next((state for moment, state in reached if moment is not None), AllocationState.RESERVED)


def set_cell(
    tenant: Team | Project, pool: str, class_key: str, resource: str, *, nominal: int | None, ceiling: int | None
) -> QuotaCell:
    """A quota cell without guarantee."""
    return set_quota(
        actor=None,
        tenant=tenant,
        pool_key=pool,
        class_key=class_key,
        resource=resource,
        guarantee=None,
        nominal=nominal,
        ceiling=ceiling,
        now=NOW,
    )
