"""Where a job may run: the pools its project is granted, on clusters that can run its program."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from jobs.models import Job
from jobs.reasons import Reason
from jobs.runtimes import admits
from jobs.scheduler.snapshot import Hold
from jobs.shipped.template import SHIPPED_DRIVER
from resources.models import Cluster, DeviceGroup, Node, Pool, ResourceClass, Runtime
from tenants.models import Grant, Project
from tenants.selectors.grants import granted_pool_keys


@dataclass(frozen=True, slots=True)
class Reach:
    """Pools by project, and which kinds of cluster stand behind a pool and can run a runtime; with the rows read."""

    grants: Sequence[Grant]
    projects: Sequence[Project]
    granted: Mapping[uuid.UUID, tuple[str, ...]]
    kinds_of_pool: Mapping[str, frozenset[str]]
    kind_of_runtime: Mapping[str, str]
    rules_of_pool: Mapping[str, tuple[Sequence[str], Sequence[str]]]
    """Task types and runtimes by pool, where a pool has such a rule; empty is every one."""
    drivers_of_runtime: Mapping[str, str]
    """The range of driver versions that a runtime states, where it states one."""

    def pools_for(self, job: Job) -> tuple[str, ...]:
        """The pools the job chose, else those its project is granted, that can run its program (R-23) and take it.

        A pool without nodes rules nothing out: the cycle says that it has none. When none takes the job, all are
        given, and `hold_for` says why it waits.
        """
        able = self._able(job)
        return tuple(pool for pool in able if self._takes(pool, job)) or able

    def hold_for(self, job: Job) -> Hold | None:
        """Why no pool takes a job of this type and runtime, if none does."""
        able = self._able(job)
        if not able or any(self._takes(pool, job) for pool in able):
            return None
        return Hold(Reason.POOL_REFUSES, {"list": able})

    def _able(self, job: Job) -> tuple[str, ...]:
        pools = tuple(job.pool_keys) or self.granted.get(job.project_id, ())
        kind = self.kind_of_runtime.get(job.runtime_key)
        return pools if kind is None else tuple(p for p in pools if kind in self.kinds_of_pool.get(p, {kind}))

    def _takes(self, pool: str, job: Job) -> bool:
        rules = self.rules_of_pool.get(pool)
        return rules is None or admits(*rules, job.task_type, job.runtime_key)


def load_reach() -> Reach:
    """Five queries, whatever the number of rows; the cycle judges the grants' times."""
    kinds: dict[str, set[str]] = defaultdict(set)
    behind = Node.objects.filter(pool__isnull=False).exclude(cluster__state=Cluster.State.DETACHED)
    for pool, kind in behind.values_list("pool__key", "cluster__driver").distinct().order_by():
        kinds[pool].add(kind)
    grants, projects = list(Grant.objects.all()), list(Project.objects.select_related("team"))
    runtimes = list(Runtime.objects.values_list("key", "driver_kind", "driver_range"))
    return Reach(
        grants=grants,
        projects=projects,
        granted=_granted(grants, projects),
        kinds_of_pool={pool: frozenset(found) for pool, found in kinds.items()},
        kind_of_runtime={key: kind for key, kind, _range in runtimes},
        drivers_of_runtime={key: stated for key, _kind, stated in runtimes if stated},
        rules_of_pool={
            key: (task_types, runtimes)
            for key, task_types, runtimes in Pool.objects.values_list("key", "task_types", "runtimes")
            if task_types or runtimes
        },
    )


def offered_pools(project: Project, spec: Mapping[str, Any], now: datetime) -> list[Pool]:
    """Pools the project is granted now in which a template's program can run; those without nodes are left out."""
    behind = Node.objects.filter(pool=OuterRef("pk"), cluster__driver=kind_of(spec)).exclude(
        cluster__state=Cluster.State.DETACHED
    )
    simulated = Node.objects.filter(pool=OuterRef("pk"), cluster__simulated=True)
    rows = Pool.objects.filter(Exists(behind), key__in=granted_pool_keys(project, now))
    return list(rows.annotate(simulated=Exists(simulated)))


def offered_classes(pools: Iterable[str]) -> QuerySet[ResourceClass]:
    """Classes of devices that some node of these pools has."""
    there = DeviceGroup.objects.filter(resource_class=OuterRef("pk"), node__pool__key__in=list(pools))
    return ResourceClass.objects.filter(Exists(there), retired_at__isnull=True)


def kind_of(spec: Mapping[str, Any]) -> str:
    """The kind of cluster that can run a template's program."""
    return str(spec["runtime"].get("driver") or SHIPPED_DRIVER)


def _granted(grants: Iterable[Grant], projects: Iterable[Project]) -> dict[uuid.UUID, tuple[str, ...]]:
    """Project -> keys of the pools that any grant of it or of a team above it names."""
    of_team: dict[str, set[str]] = defaultdict(set)
    of_project: dict[uuid.UUID, set[str]] = defaultdict(set)
    for grant in grants:
        if grant.team_id is not None:
            of_team[grant.team_id.hex].add(grant.pool_key)
        elif grant.project_id is not None:
            of_project[grant.project_id].add(grant.pool_key)
    return {
        project.pk: tuple(
            sorted(
                of_project[project.pk].union(
                    *(of_team[part] for part in project.team.path.split(".") if part in of_team)
                )
            )
        )
        for project in projects
    }
