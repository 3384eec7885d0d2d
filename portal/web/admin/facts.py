"""What there is and what is used, for a pool, a class and a team or project: plain integers for the forms."""

from datetime import datetime
from typing import TypedDict

from django.utils.translation import gettext as _

from jobs.reasons import Reason
from jobs.selectors.cells import CellUse, use_of_cells
from jobs.sentences import sentence
from portal.lib.errors import NotFound
from portal.lib.localised import listed, localised
from resources.models import Pool, ResourceClass
from resources.selectors.capacity import capacity_of
from resources.selectors.catalogue import class_looks
from resources.selectors.fleet import nodes_of_pools
from resources.selectors.freshness import STALE_AFTER
from tenants.access import Actor
from tenants.models import Project, QuotaCell, Team
from tenants.selectors.teams import project_by_slug, team_by_slug

Tenant = Team | Project


class Axis(TypedDict):
    """What a quota cell is about."""

    pool_key: str
    class_key: str
    resource: str


def tenant_named(user: Actor, kind: str, slug: str, permission: str) -> Tenant:
    """The team or project. Raises NotFound or Denied."""
    if kind == "teams":
        return team_by_slug(user, slug, permission)
    if kind == "projects":
        return project_by_slug(user, slug, permission)
    raise NotFound(f"{kind} {slug}")


def pool_choices() -> list[tuple[str, str]]:
    """Every pool by its name."""
    return [(pool.key, f"{localised(pool.name, pool.key)} ({pool.key})") for pool in Pool.objects.order_by("key")]


def class_choices() -> list[tuple[str, str]]:
    """Every class that is not retired, as "key:resource"."""
    rows = ResourceClass.objects.filter(retired_at__isnull=True).order_by("resource", "key")
    return [(f"{row.key}:{row.resource}", localised(row.name, row.key)) for row in rows]


def capacity(pool_key: str, class_key: str, resource: str, now: datetime) -> int | None:
    """What is installed in the pool, base units; None where no node of it has any such thing."""
    nodes = nodes_of_pools(list(Pool.objects.filter(key=pool_key)))
    sums = capacity_of(nodes, {}, now - STALE_AFTER)
    return next((c.installed for c in sums if (c.class_key, c.resource) == (class_key, resource)), None)


def resources_in(pool_key: str, now: datetime) -> set[str] | None:
    """What kinds of things the pool's nodes have: cpu, memory, device; None for a pool that does not exist."""
    pool = Pool.objects.filter(key=pool_key).first()
    if pool is None:
        return None
    return {c.resource for c in capacity_of(nodes_of_pools([pool]), {}, now - STALE_AFTER) if c.installed}


def stands_against(axis: Axis, now: datetime) -> str:
    """Why no job can use a quota of this pool and class today, in the sentence such a job would get; "" if none.

    Cells name pool and class by key: one that does not exist, or is not in the pool, is said, never a crash.
    """
    pool = Pool.objects.filter(key=axis["pool_key"]).first()
    if pool is None:
        return sentence(Reason.POOL_NOT_FOUND, {"pool": axis["pool_key"]}, now)
    row = ResourceClass.objects.filter(key=axis["class_key"], retired_at__isnull=True).first()
    if row is None:
        return sentence(Reason.CLASS_NOT_FOUND, {"class_key": axis["class_key"]}, now)
    sums = capacity_of(nodes_of_pools([pool]), {}, now - STALE_AFTER)
    there = [c.class_key for c in sums if c.installed]
    if row.key in there:
        return ""
    names = {"pool": localised(pool.name, pool.key), "res": localised(row.name, row.key)}
    looks = class_looks()
    has = _("It has: {list}.").format(list=listed(looks[key].name for key in there)) if there else _("It has no node.")
    return f"{sentence(Reason.NO_HOST_OF_CLASS, names, now)} {has}"


def use_of(tenant: Tenant, pool_key: str, class_key: str, resource: str) -> CellUse:
    """What everything below the tenant uses now, whether or not it has a cell."""
    cell = QuotaCell(
        team=tenant if isinstance(tenant, Team) else None,
        project=tenant if isinstance(tenant, Project) else None,
        pool_key=pool_key,
        class_key=class_key,
        resource=resource,
    )
    return use_of_cells([cell])[0]
