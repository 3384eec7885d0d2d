"""Quota cells with what is used of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, Sum

from jobs.models import Allocation, AllocationLine
from jobs.states import HOLDS_QUOTA, AllocationState
from tenants.models import Project, QuotaCell, Team

_HOLDING = [state.value for state in HOLDS_QUOTA]


@dataclass(frozen=True, slots=True)
class CellUse:
    """A cell and what everything below its team or project uses of it, base units.

    `reserved` is promised to jobs that are not bound yet; it is not part of `used`.
    """

    cell: QuotaCell
    used: int
    reserved: int


def cells_on_path(projects: Sequence[Project]) -> list[CellUse]:
    """Cells that bind these projects: their own and those of every team above. Two queries."""
    teams = {UUID(key) for project in projects for key in project.team.path.rstrip(".").split(".")}
    cells = (
        QuotaCell.objects.filter(Q(project__in=projects) | Q(team__in=teams))
        .select_related("team", "project")
        .order_by("pool_key", "-resource", "class_key", "team__path")
    )
    return use_of_cells(list(cells))


def use_of_cells(cells: Sequence[QuotaCell]) -> list[CellUse]:
    """What is used of these cells, saved or not. One query."""
    held = _held(cells)
    return [CellUse(cell, _below(cell, held, reserved=False), _below(cell, held, reserved=True)) for cell in cells]


def jobs_holding(tenant: Team | Project, pool_key: str) -> int:
    """How many jobs below the tenant hold something of the pool now."""
    below = Q(project=tenant) if isinstance(tenant, Project) else Q(project__team__path__startswith=tenant.path)
    rows = Allocation.objects.filter(below, pool_key=pool_key, state__in=_HOLDING).order_by()
    return rows.values("attempt__job").distinct().count()


_Row = tuple[UUID, str, str, str, str, str, int]


def _held(cells: Sequence[QuotaCell]) -> list[_Row]:
    """Project, team path, pool, class, resource, state and amount of all that is held below the cells."""
    below = Q(pk__in=[])
    for cell in cells:
        if cell.team is not None:
            below |= Q(allocation__project__team__path__startswith=cell.team.path)
        else:
            below |= Q(allocation__project=cell.project_id)
    rows = (
        AllocationLine.objects.filter(below, allocation__state__in=_HOLDING)
        .order_by()
        .values_list(
            "allocation__project_id",
            "allocation__project__team__path",
            "allocation__pool_key",
            "class_key",
            "resource",
            "allocation__state",
        )
        .annotate(total=Sum("quantity"))
    )
    return list(rows)


def _below(cell: QuotaCell, held: Sequence[_Row], *, reserved: bool) -> int:
    return sum(
        int(amount)
        for project, path, pool, class_key, resource, state, amount in held
        if (pool, class_key, resource) == (cell.pool_key, cell.class_key, cell.resource)
        and (path.startswith(cell.team.path) if cell.team else project == cell.project_id)
        and (state == AllocationState.RESERVED) is reserved
    )
