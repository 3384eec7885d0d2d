"""Capacity summed up by class: installed, usable now, held, free, and what is out and why.

Nothing is inferred: a node that has not reported in time counts as "no data", never as free.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from resources.models import Node

Axis = tuple[str, str]  # class key, resource
Held = Mapping[UUID, Mapping[Axis, int]]


@dataclass(slots=True)
class Capacity:
    """Base units of one class. usable + out + no_data + kept back by the system or unhealthy = installed."""

    class_key: str
    resource: str
    installed: int = 0
    usable: int = 0
    held: int = 0
    free: int = 0
    out: int = 0
    no_data: int = 0

    @property
    def kept(self) -> int:
        """Kept back by the system or unhealthy."""
        return self.installed - self.usable - self.out - self.no_data


@dataclass(frozen=True, slots=True)
class Part:
    """What one node has of one class: installed, and allocatable of it."""

    class_key: str
    resource: str
    installed: int
    allocatable: int


def parts_of(node: Node) -> list[Part]:
    """CPU, memory and devices by class; the node's groups and their classes should be prefetched."""
    devices: dict[str, Part] = {}
    for group in node.groups.all():
        key = group.resource_class.key if group.resource_class else group.resource_name
        so_far = devices.get(key, Part(key, "device", 0, 0))
        devices[key] = Part(
            key, "device", so_far.installed + group.capacity_parts, so_far.allocatable + group.allocatable_parts
        )
    return [
        Part("cpu", "cpu", node.cpu_milli, node.cpu_allocatable_milli),
        Part("memory", "memory", node.memory_bytes, node.memory_allocatable_bytes),
        *devices.values(),
    ]


def capacity_of(nodes: Iterable[Node], held: Held, stale_before: datetime) -> list[Capacity]:
    """One sum per class, in the order of resource and key. `held` is base units by node, class and resource."""
    sums: dict[Axis, Capacity] = {}
    for node in nodes:
        for part in parts_of(node):
            axis = (part.class_key, part.resource)
            total = sums.setdefault(axis, Capacity(*axis))
            _add(total, node, part, held.get(node.pk, {}).get(axis, 0), stale_before)
    return [sums[axis] for axis in sorted(sums, key=lambda a: (_ORDER.get(a[1], 9), a[0]))]


_ORDER = {"device": 0, "cpu": 1, "memory": 2}


def _add(total: Capacity, node: Node, part: Part, held: int, stale_before: datetime) -> None:
    total.installed += part.installed
    total.held += held
    if node.last_seen_at < stale_before or node.stage == Node.Stage.UNREACHABLE:
        total.no_data += part.installed
    elif node.stage == Node.Stage.SCHEDULABLE:
        total.usable += part.allocatable
        total.free += max(0, part.allocatable - held)
    else:
        total.out += part.allocatable
