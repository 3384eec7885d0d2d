"""The catalogue of names in force: what comes with the portal, and the rows administrators laid over it."""

from collections.abc import Sequence
from dataclasses import dataclass

from resources.models import DeviceGroup, Node, VendorRow
from resources.normalize import Catalogue, load_catalogue
from resources.runtime_rules import KUBERNETES
from resources.selectors.fleet import nodes_visible_to
from resources.vendor_rows import matches, merged_with, version_of
from tenants.access import Actor


def catalogue_in_force() -> tuple[str, Catalogue]:
    """A version that is another after every change, and the merged catalogue. One query."""
    rows = list(VendorRow.objects.all())
    return (version_of(rows), merged_with(rows)) if rows else ("", load_catalogue())


def names_without_vendor(user: Actor) -> Sequence[str]:
    """Resource names that visible nodes of Kubernetes clusters report and no row knows. One query."""
    rows = DeviceGroup.objects.filter(vendor="", capacity_parts__gt=0, node__cluster__driver=KUBERNETES)
    rows = rows.filter(node__in=nodes_visible_to(user).order_by().select_related(None))
    return sorted(rows.order_by().values_list("resource_name", flat=True).distinct())


@dataclass(frozen=True, slots=True)
class Reach:
    """What of the fleet a pattern speaks of: device groups by node and name, and shipped rows it stands before."""

    groups: Sequence[DeviceGroup]
    shipped: bool


def reach_of(pattern: str) -> Reach:
    """Groups that are there now whose resource name matches."""
    rows = DeviceGroup.objects.exclude(node__stage=Node.Stage.RETIRED).filter(capacity_parts__gt=0)
    if "*" not in pattern:
        rows = rows.filter(resource_name=pattern)
    found = [group for group in rows.select_related("node") if matches(pattern, group.resource_name)]
    names = {group.resource_name for group in found} | ({pattern} if "*" not in pattern else set())
    return Reach(found, any(load_catalogue().rule_of(name) is not None for name in names))
