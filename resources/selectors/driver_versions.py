"""What the scheduler needs to know of drivers: versions by node and class, and the ranges that runtimes state."""

from collections import defaultdict

from resources.models import Node, Pool, Runtime


def drivers_by_class(node: Node) -> dict[str, tuple[str, ...]]:
    """By class key the driver versions of the node's devices, "" for a group that reports none. Groups and classes
    should be prefetched; groups without devices and those that no class takes are left out."""
    found: dict[str, set[str]] = defaultdict(set)
    for group in node.groups.all():
        if group.capacity_parts and group.resource_class is not None:
            found[group.resource_class.key].add(group.driver_version)
    return {key: tuple(sorted(versions)) for key, versions in sorted(found.items())}


def driver_ranges() -> dict[str, str]:
    """Runtime -> the range of drivers it states; those without one are left out. Retired ones stay: jobs keep theirs.
    One query."""
    return dict(Runtime.objects.exclude(driver_range="").order_by().values_list("key", "driver_range"))


def pools_of_known_drivers() -> frozenset[str]:
    """Keys of the pools that refuse nodes whose driver is not known to runtimes that state a range. One query."""
    return frozenset(Pool.objects.filter(known_driver_only=True).order_by().values_list("key", flat=True))
