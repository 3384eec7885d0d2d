"""Quota cells as bars."""

from typing import Any

from django.urls import reverse

from jobs.selectors.cells import CellUse
from jobs.sentences import UNIT_OF_RESOURCE
from resources.selectors.catalogue import ClassLooks, kind_of_resource


def cell_shape(use: CellUse, looks: ClassLooks, pools: set[str]) -> dict[str, Any]:
    """A cell as ui/quota_bar.html draws it; what is used beyond nominal is borrowed."""
    cell = use.cell
    look_of = looks[cell.class_key]
    return {
        "use": use,
        "label": look_of.name,
        "kind": look_of.kind or kind_of_resource(cell.resource),
        "unit": UNIT_OF_RESOURCE.get(cell.resource, "count"),
        "owner": cell.project or cell.team,
        "borrowed": max(0, use.used - cell.nominal) if cell.nominal is not None else 0,
        "url": reverse("pool_detail", args=[cell.pool_key]) if cell.pool_key in pools else "",
    }
