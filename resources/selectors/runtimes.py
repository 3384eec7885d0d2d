"""Runtimes: those in use or retired, and the devices one would find in the fleet."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from resources.models import DeviceGroup, Node, Runtime
from resources.versions import within


def runtimes(*, driver: str = "", text: str = "", retired: bool = False) -> QuerySet[Runtime]:
    """Declared runtimes with the classes they are declared for; everybody may read them."""
    rows = Runtime.objects.filter(retired_at__isnull=not retired).prefetch_related("classes")
    rows = rows.filter(driver_kind=driver) if driver else rows
    return (
        rows.filter(Q(key__icontains=text) | Q(name__icontains=text) | Q(framework__icontains=text)) if text else rows
    )


@dataclass(frozen=True, slots=True)
class DriverFound:
    """A version of the device driver on nodes the runtime could run on: "" is one that nodes do not report.

    `fits` is None where that cannot be told.
    """

    class_key: str
    version: str
    nodes: int
    fits: bool | None


def drivers_for(runtime: Runtime) -> Sequence[DriverFound]:
    """By class and version, over nodes in use of its kind of cluster with devices it is declared for. One query."""
    groups = DeviceGroup.objects.filter(
        node__cluster__driver=runtime.driver_kind,
        capacity_parts__gt=0,
        resource_class__isnull=False,
        resource_class__kind__in=runtime.kinds,
    ).exclude(node__stage=Node.Stage.RETIRED)
    keys = [row.key for row in runtime.classes.all()]
    groups = groups.filter(resource_class__key__in=keys) if keys else groups
    found = Counter(groups.values_list("resource_class__key", "driver_version").order_by())
    return [
        DriverFound(key, version, count, within(version, runtime.driver_range))
        for (key, version), count in sorted(found.items())
    ]
