"""What an attempt ran on, in the words of the validation matrix: driver, container runtime, version of its runtime."""

from collections.abc import Iterable, Mapping

from jobs.models import AllocationLine
from resources.models import DeviceGroup, Node, Runtime


def runtime_as(key: str) -> str:
    """The runtime as it is now: a change of image, framework or version is another one. "" without a runtime."""
    row = Runtime.objects.filter(key=key).first() if key else None
    return version_of(row) if row else ""


def version_of(row: Runtime) -> str:
    """What of a runtime decides whether a run says something about it."""
    return " ".join(part for part in (row.image or row.framework, row.version) if part)[:600]


def write_ground(lines: Iterable[AllocationLine], nodes: Mapping[str, Node]) -> None:
    """Put on each line what its node has now; of a class with several drivers there, all of them. One query."""
    groups = DeviceGroup.objects.filter(node__in=[node.pk for node in nodes.values()], capacity_parts__gt=0)
    drivers: dict[tuple[object, str], set[str]] = {}
    for node, key, driver in groups.values_list("node_id", "resource_class__key", "driver_version"):
        drivers.setdefault((node, key or ""), set()).add(driver)
    runtimes = {node.pk: node.container_runtime for node in nodes.values()}
    for line in lines:
        line.driver_version = ", ".join(sorted(drivers.get((line.node_id, line.class_key), {""})))[:60]
        line.container_runtime = runtimes[line.node_id]
