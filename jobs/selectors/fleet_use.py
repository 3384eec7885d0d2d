"""Capacity and what is held of it, summed up by class in the database: as quick for ten thousand nodes as for one."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db.models import F, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from jobs.models import AllocationLine
from jobs.states import HOLDS_CAPACITY
from resources.models import DeviceGroup, Node
from resources.selectors.capacity import Capacity

_HOLDING = [state.value for state in HOLDS_CAPACITY]
_NODE_AXES = (
    ("cpu", "cpu", "cpu_milli", "cpu_allocatable_milli"),
    ("memory", "memory", "memory_bytes", "memory_allocatable_bytes"),
)


def capacity_by_class(nodes: QuerySet[Node], stale_before: datetime) -> list[Capacity]:
    """One sum per class, devices first. Three queries. The words are those of `resources.selectors.capacity`.

    A node that has not reported since `stale_before`, or is unreachable, is without data: never free.
    """
    keys = nodes.order_by().values("pk")
    sums = _devices(keys, stale_before) | _of_nodes(keys, stale_before)
    for class_key, resource, held, taken in _held(keys, stale_before):
        total = sums.setdefault((class_key, resource), Capacity(class_key, resource))
        total.held = held
        total.free = max(0, total.usable - taken)
    return list(sums.values())


def _states(stale_before: datetime, prefix: str = "") -> tuple[Q, Q]:
    """Without data; and usable."""
    silent = Q(**{f"{prefix}last_seen_at__lt": stale_before}) | Q(**{f"{prefix}stage": Node.Stage.UNREACHABLE})
    return silent, ~silent & Q(**{f"{prefix}stage": Node.Stage.SCHEDULABLE})


def _sums(installed: str, allocatable: str, silent: Q, usable: Q) -> dict[str, Sum]:
    return {
        "installed_sum": Sum(installed, default=0),
        "usable_sum": Sum(allocatable, filter=usable, default=0),
        "out_sum": Sum(allocatable, filter=~usable & ~silent, default=0),
        "silent_sum": Sum(installed, filter=silent, default=0),
    }


def _capacity(class_key: str, resource: str, found: Mapping[str, Any]) -> Capacity:
    usable = int(found["usable_sum"])
    return Capacity(
        class_key,
        resource,
        installed=int(found["installed_sum"]),
        usable=usable,
        free=usable,
        out=int(found["out_sum"]),
        no_data=int(found["silent_sum"]),
    )


def _devices(keys: QuerySet[Any], stale_before: datetime) -> dict[tuple[str, str], Capacity]:
    silent, usable = _states(stale_before, "node__")
    rows = (
        DeviceGroup.objects.filter(node__in=keys)
        .order_by()
        .values(key=Coalesce(F("resource_class__key"), F("resource_name")))
        .annotate(**_sums("capacity_parts", "allocatable_parts", silent, usable))
        .order_by("key")
    )
    return {(row["key"], "device"): _capacity(row["key"], "device", row) for row in rows}


def _of_nodes(keys: QuerySet[Any], stale_before: datetime) -> dict[tuple[str, str], Capacity]:
    silent, usable = _states(stale_before)
    sums = {
        f"{resource}_{name}": value
        for _key, resource, installed, allocatable in _NODE_AXES
        for name, value in _sums(installed, allocatable, silent, usable).items()
    }
    found = Node.objects.filter(pk__in=keys).order_by().aggregate(**sums)
    return {
        (key, resource): _capacity(key, resource, {n: found[f"{resource}_{n}"] for n in _SUM_NAMES})
        for key, resource, _installed, _allocatable in _NODE_AXES
        if found[f"{resource}_installed_sum"]
    }


_SUM_NAMES = ("installed_sum", "usable_sum", "out_sum", "silent_sum")


def _held(keys: QuerySet[Any], stale_before: datetime) -> list[tuple[str, str, int, int]]:
    """Class, resource, held anywhere, held on nodes that are usable."""
    _silent, usable = _states(stale_before, "node__")
    rows = (
        AllocationLine.objects.filter(node__in=keys, allocation__state__in=_HOLDING)
        .order_by()
        .values_list("class_key", "resource")
        .annotate(all=Sum("quantity"), taken=Sum("quantity", filter=usable, default=0))
    )
    return [(key, resource, int(held), int(taken)) for key, resource, held, taken in rows]
