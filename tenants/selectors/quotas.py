"""Cells of the quota tree next to one another, and what they sum up to."""

from django.db.models import QuerySet

from tenants import quota_tree
from tenants.models import Project, QuotaCell, Team
from tenants.quota_tree import Cell, Family


def path_of(tenant: Team | Project) -> str:
    """Where the tenant stands in the tree; a project stands below its team."""
    return f"{tenant.team.path}{tenant.pk.hex}." if isinstance(tenant, Project) else tenant.path


def cells_of(pool_key: str, class_key: str, resource: str) -> QuerySet[QuotaCell]:
    """Every cell of one pool, class and resource."""
    rows = QuotaCell.objects.filter(pool_key=pool_key, class_key=class_key, resource=resource)
    return rows.select_related("team", "project__team")


def amounts_with(
    tenant: Team | Project, pool_key: str, class_key: str, resource: str, name: str, value: int | None
) -> list[Cell]:
    """The tree of one amount (guarantee, nominal or ceiling) as it would be with this value for the tenant."""
    path = path_of(tenant)
    found = {path_of(c.tenant): getattr(c, name) for c in cells_of(pool_key, class_key, resource)}
    return list((found | {path: value}).items())


def guarantees_with(tenant: Team | Project, pool_key: str, class_key: str, resource: str, guarantee: int | None) -> int:
    """What all guarantees would sum up to, base units."""
    return quota_tree.total(amounts_with(tenant, pool_key, class_key, resource, "guarantee", guarantee))


def nominals_with(tenant: Team | Project, pool_key: str, class_key: str, resource: str, nominal: int | None) -> int:
    """What all nominal quotas would sum up to, base units."""
    return quota_tree.total(amounts_with(tenant, pool_key, class_key, resource, "nominal", nominal))


def family_with(
    tenant: Team | Project, pool_key: str, class_key: str, resource: str, guarantee: int | None
) -> Family | None:
    """The guarantee above the tenant's, and what all directly below it would sum up to."""
    cells = amounts_with(tenant, pool_key, class_key, resource, "guarantee", guarantee)
    return quota_tree.family_of(path_of(tenant), cells)
