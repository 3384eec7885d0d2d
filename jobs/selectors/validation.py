"""Validation runs: what may be chosen for them, which nodes need one, and what a run on a node asks for."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from jobs.models import Job, JobTemplate, TemplateVersion
from jobs.params import values
from jobs.reasons import BY_VALUE, Kind
from jobs.runtimes import admits
from jobs.selectors.reach import kind_of
from jobs.selectors.templates import schema_of
from jobs.states import FINAL, JobState
from resources.drivers.base import WHOLE_DEVICE
from resources.models import Admission, Cluster, Node, Pool
from resources.selectors.freshness import STALE_AFTER
from resources.stages import Standing
from tenants.models import Project
from tenants.selectors.grants import granted_pool_keys

AT_ONCE = 50
"""New runs of one pass: a thousand nodes that appear together come in one after the other."""
_MAY_RUN = [Standing.NOT_VALIDATED, Standing.FAILED, Standing.VOID, Standing.QUARANTINED]


def validation_templates(pool: Pool) -> list[TemplateVersion]:
    """Newest versions of templates for everybody that can validate its nodes: they run on a kind of cluster it has,
    take no input, and need no parameter."""
    kinds = set(_clusters_of(pool).values_list("driver", flat=True))
    newest = TemplateVersion.objects.filter(template__in=_for_all()).order_by("template__slug", "-number")
    rows = newest.distinct("template__slug").select_related("template")
    return [row for row in rows if _serves(row, pool, kinds)]


def validation_slugs(pool: Pool) -> set[str]:
    """Their short names."""
    return {version.template.slug for version in validation_templates(pool)}


def validation_projects(pool: Pool, now: datetime) -> list[Project]:
    """Projects in use that are granted the pool now: one of them is charged."""
    rows = Project.objects.filter(archived_at__isnull=True).select_related("team").order_by("slug")
    return [project for project in rows if pool.key in granted_pool_keys(project, now)]


def version_for(pool: Pool) -> TemplateVersion | None:
    """The version a run is made of now."""
    rows = TemplateVersion.objects.filter(template__in=_for_all(), template__slug=pool.validation_template)
    return rows.select_related("template").order_by("-number").first()


def nodes_to_visit(now: datetime) -> list[UUID]:
    """Nodes whose run is over or can never start, and those that are due for one. Three queries."""
    return [*_ended(), *_due(now)[:AT_ONCE]]


def is_due(node: Node, now: datetime) -> bool:
    """Whether a run may be started on it now; its pool and cluster should be selected with it."""
    pool, cluster = node.pool, node.cluster
    if pool is None or pool.admission != Admission.VALIDATE or node.trial_job is not None:
        return False
    if not node.ready or node.reason or node.held_stage or node.standing not in _MAY_RUN:
        return False
    if cluster.state != Cluster.State.ATTACHED or not cluster.last_seen_at or now - cluster.last_seen_at > STALE_AFTER:
        return False
    if "next" not in node.trial:
        return True
    due = node.trial["next"]
    return due is not None and datetime.fromisoformat(due) <= now


def device_lines(node: Node, most: int) -> tuple[list[list[Any]], bool]:
    """Lines for every device of a class that works and that others do not hold, at most `most` in all; and whether
    the node has any device of a class. Its groups with classes and devices should be prefetched."""
    found: Counter[str] = Counter()
    has_any = False
    for group in node.groups.all():
        if group.resource_class is None or not group.capacity_parts:
            continue
        has_any = True
        working = sum(device.healthy for device in group.devices.all())
        found[group.resource_class.key] += max(0, working - node.foreign.get(group.resource_name, 0))
    lines: list[list[Any]] = []
    for key, count in found.most_common():
        if taken := min(count, most):
            lines.append([key, "device", taken * WHOLE_DEVICE])
            most -= taken
    return lines, has_any


def can_never_start(job: Job) -> bool:
    """Whether the scheduler said of a waiting job that it cannot start by today's rules and inventory."""
    reason = BY_VALUE.get(job.reason)
    return job.state == JobState.QUEUED and reason is not None and reason.kind is Kind.NEVER


def _ended() -> list[UUID]:
    never = [reason.value for reason in BY_VALUE.values() if reason.kind is Kind.NEVER]
    over = Q(state__in=[state.value for state in FINAL]) | Q(state=JobState.QUEUED, reason__in=never)
    rows = Node.objects.filter(trial_job__isnull=False).order_by("pk").values_list("trial_job", "pk")
    open_runs = {job: node for job, node in rows if job}
    jobs = dict(Job.objects.filter(pk__in=open_runs).order_by().values_list("pk", "state"))
    ended = set(Job.objects.filter(over, pk__in=open_runs).order_by().values_list("pk", flat=True)) if jobs else set()
    return [node for job, node in open_runs.items() if job in ended or job not in jobs]


def _due(now: datetime) -> list[UUID]:
    rows = Node.objects.filter(
        pool__admission=Admission.VALIDATE, trial_job__isnull=True, ready=True, reason="", held_stage="",
        standing__in=_MAY_RUN, cluster__state=Cluster.State.ATTACHED,
    )  # fmt: skip
    found: Iterable[Node] = rows.select_related("pool", "cluster").order_by("created_at", "pk")
    return [node.pk for node in found if is_due(node, now)]


def _for_all() -> Any:
    return JobTemplate.objects.filter(project__isnull=True, retired_at__isnull=True).order_by().values("pk")


def _clusters_of(pool: Pool) -> Any:
    return Cluster.objects.filter(nodes__pool=pool).exclude(state=Cluster.State.DETACHED).order_by().distinct()


def _serves(version: TemplateVersion, pool: Pool, kinds: Sequence[str] | set[str]) -> bool:
    spec = version.spec
    if (kinds and kind_of(spec) not in kinds) or spec.get("serves") or spec["inputs"]:
        return False
    if not admits(pool.task_types, pool.runtimes, spec["task_type"], None):
        return False
    return not values.validate(schema_of(version), {}, offered={}).errors
