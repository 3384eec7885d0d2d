"""Cut capacity segments where a node's capacity or its state changed."""

from datetime import datetime

from django.db import transaction

from resources.models import CapacitySegment, Cluster, Node
from resources.selectors.freshness import is_stale

Lane = tuple[str, str, str]  # class key, resource, state


@transaction.atomic
def record_capacity(*, cluster: Cluster, now: datetime) -> int:
    """How many segments were cut. Idempotent: unchanged facts cut nothing."""
    cut = 0
    for node in Node.objects.filter(cluster=cluster).prefetch_related("groups__resource_class"):
        cut += _record_node(node, now)
    return cut


def _record_node(node: Node, now: datetime) -> int:
    stale = is_stale(node.last_seen_at, now)
    # The unknown began when we last knew, not when we noticed.
    moment = node.last_seen_at if stale else now
    wanted = _lanes(node, stale)
    cut = 0
    for segment in CapacitySegment.objects.select_for_update().filter(node=node, end__isnull=True):
        lane = (segment.class_key, segment.resource, segment.state)
        if wanted.get(lane) == segment.quantity:
            del wanted[lane]
            continue
        cut += 1
        if moment <= segment.start:
            segment.delete()
        else:
            CapacitySegment.objects.filter(pk=segment.pk).update(end=moment)
    rows = [
        CapacitySegment(node=node, class_key=k, resource=r, state=s, quantity=quantity, start=moment)
        for (k, r, s), quantity in wanted.items()
        if quantity > 0
    ]
    CapacitySegment.objects.bulk_create(rows)
    return cut + len(rows)


def _lanes(node: Node, stale: bool) -> dict[Lane, int]:
    """Installed capacity by state: what jobs may use, what the system keeps, and why the rest is out."""
    usable = (
        "no_data"
        if stale
        else {Node.Stage.SCHEDULABLE: "schedulable", Node.Stage.UNREACHABLE: "no_data"}.get(
            Node.Stage(node.stage), "maintenance"
        )
    )
    lanes: dict[Lane, int] = {}
    parts = [
        ("cpu", "cpu", node.cpu_milli, node.cpu_allocatable_milli),
        ("memory", "memory", node.memory_bytes, node.memory_allocatable_bytes),
    ]
    for group in node.groups.all():
        key = group.resource_class.key if group.resource_class else f"unrecognised:{group.resource_name}"[:63]
        parts.append((key, "device", group.capacity_parts, group.allocatable_parts))
    for key, resource, capacity, allocatable in parts:
        kept_back = "unhealthy" if resource == "device" else "system"
        _add(lanes, (key, resource, usable), min(allocatable, capacity))
        _add(
            lanes,
            (key, resource, usable if usable == "no_data" else kept_back),
            max(capacity - allocatable, 0),
        )
    return lanes


def _add(lanes: dict[Lane, int], lane: Lane, quantity: int) -> None:
    if quantity:
        lanes[lane] = lanes.get(lane, 0) + quantity
