"""What there is and what is used, for a pool, a class and a team or project: plain integers for the forms."""

from datetime import datetime
from typing import TypedDict

from jobs.selectors.cells import CellUse, use_of_cells
from portal.lib.errors import NotFound
from portal.lib.localised import localised
from resources.models import Pool, ResourceClass
from resources.selectors.capacity import capacity_of
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
