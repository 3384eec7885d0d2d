"""Devices one by one, and groups that report an amount without naming their devices: nothing counted twice."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Q, QuerySet

from resources.models import Device, DeviceGroup, Node
from resources.normalize.facts import Health
from resources.selectors.fleet import nodes_visible_to
from tenants.access import Actor

UNRECOGNISED = "-"
"""In place of a class key: devices no class takes."""
HEALTH = ("healthy", "unhealthy", "stale", "not_observed")


@dataclass(frozen=True, slots=True)
class DeviceFilter:
    """What to keep; an empty value keeps everything. `stale_before` tells what health can be believed.

    `class_key` is also the name by which nodes report devices that no class takes: as sums over a fleet call them.
    """

    stale_before: datetime
    class_key: str = ""
    vendor: str = ""
    model: str = ""
    health: str = ""
    cluster: str = ""
    pool: str = ""
    node: str = ""

    def groups(self, prefix: str = "") -> Q:
        """As a look-up on a device group, or by way of `prefix`."""
        named = {
            "vendor": self.vendor,
            "model": self.model,
            "node__cluster__key": self.cluster,
            "node__pool__key": self.pool,
            "node__name__icontains": self.node,
        }
        found = Q(**{prefix + lookup: value for lookup, value in named.items() if value})
        if not self.class_key:
            return found
        no_class = Q(**{f"{prefix}resource_class__isnull": True})
        if self.class_key == UNRECOGNISED:
            return found & no_class
        reported = no_class & Q(**{f"{prefix}resource_name": self.class_key})
        return found & (Q(**{f"{prefix}resource_class__key": self.class_key}) | reported)


def devices_matching(user: Actor, wanted: DeviceFilter) -> QuerySet[Device]:
    """Devices of visible nodes narrowed by the filter, one row each."""
    rows = Device.objects.filter(wanted.groups("group__"), group__node__in=_nodes(user))
    unknown = Q(group__node__last_seen_at__lt=wanted.stale_before) | Q(group__node__stage=Node.Stage.UNREACHABLE)
    unjudged = Q(group__health=Health.UNKNOWN)
    by_health = {
        "healthy": Q(healthy=True) & ~unknown & ~unjudged,
        "not_observed": Q(healthy=True) & ~unknown & unjudged,
        "unhealthy": Q(healthy=False) & ~unknown,
        "stale": unknown,
    }
    if wanted.health:
        rows = rows.filter(by_health.get(wanted.health, Q(pk__in=[])))
    return rows.select_related("group__resource_class", "group__node__cluster", "group__node__pool")


def groups_without_devices(user: Actor, wanted: DeviceFilter) -> QuerySet[DeviceGroup]:
    """Groups counted by their node that name no device. Their health is not observed: a filter on it finds none."""
    rows = DeviceGroup.objects.filter(node__in=_nodes(user), devices__isnull=True, capacity_parts__gt=0)
    if wanted.health:
        return rows.none()
    rows = rows.filter(wanted.groups()).select_related("resource_class", "node__cluster", "node__pool")
    return rows.order_by("node__cluster__key", "node__name", "resource_name")


@dataclass(frozen=True, slots=True)
class DeviceFacets:
    """Values the filters can take among what the user sees."""

    classes: Sequence[str] = field(default_factory=tuple)
    unrecognised: Sequence[str] = field(default_factory=tuple)
    """Names by which nodes report devices that no class takes."""
    vendors: Sequence[str] = field(default_factory=tuple)
    models: Sequence[str] = field(default_factory=tuple)
    clusters: Sequence[tuple[str, str]] = field(default_factory=tuple)


def device_facets(user: Actor) -> DeviceFacets:
    """One query over the visible groups."""
    rows = DeviceGroup.objects.filter(node__in=_nodes(user)).order_by()
    names = ("resource_class__key", "vendor", "model", "node__cluster__key", "node__cluster__name", "resource_name")
    found = list(rows.values_list(*names).distinct())
    return DeviceFacets(
        classes=sorted({row[0] for row in found if row[0]}),
        unrecognised=sorted({row[5] for row in found if row[0] is None}),
        vendors=sorted({row[1] for row in found if row[1]}),
        models=sorted({row[2] for row in found if row[2]}),
        clusters=sorted({(row[3], row[4]) for row in found}),
    )


def _nodes(user: Actor) -> QuerySet[Node]:
    return nodes_visible_to(user).exclude(stage=Node.Stage.RETIRED).order_by().select_related(None)
