"""Cut capacity segments where a node's capacity or its state changed."""

from collections import defaultdict
from datetime import datetime
from uuid import UUID

from django.db import transaction

from resources.models import CapacitySegment, Cluster, Node
from resources.selectors.freshness import is_stale

Lane = tuple[str, str, str]  # class key, resource, state


@transaction.atomic
def record_capacity(*, cluster: Cluster, now: datetime) -> int:
    """How many segments were cut. Idempotent: unchanged facts cut nothing, and cost four queries in all."""
    nodes = {node.pk: node for node in Node.objects.filter(cluster=cluster).prefetch_related("groups__resource_class")}
    wanted = {key: _lanes(node, is_stale(node.last_seen_at, now)) for key, node in nodes.items()}
    cut = _end_changed(cluster, nodes, wanted, now)
    rows = [
        CapacitySegment(node=nodes[node], class_key=k, resource=r, state=s, quantity=quantity, start=moment)
        for node, lanes in wanted.items()
        for moment in [_moment(nodes[node], now)]
        for (k, r, s), quantity in lanes.items()
        if quantity > 0
    ]
    CapacitySegment.objects.bulk_create(rows)
    return cut + len(rows)


def _end_changed(cluster: Cluster, nodes: dict[UUID, Node], wanted: dict[UUID, dict[Lane, int]], now: datetime) -> int:
    """End the open segments that no longer hold; those that do are taken out of `wanted`."""
    ended: dict[datetime, list[UUID]] = defaultdict(list)
    empty: list[UUID] = []
    open_ones = CapacitySegment.objects.select_for_update(of=("self",)).filter(node__cluster=cluster, end__isnull=True)
    for segment in open_ones.order_by("id"):
        lane = (segment.class_key, segment.resource, segment.state)
        lanes, moment = wanted.get(segment.node_id, {}), _moment(nodes[segment.node_id], now)
        if lanes.get(lane) == segment.quantity:
            del lanes[lane]
        elif moment <= segment.start:
            empty.append(segment.pk)
        else:
            ended[moment].append(segment.pk)
    if empty:
        CapacitySegment.objects.filter(pk__in=empty).delete()
    for moment, keys in ended.items():
        CapacitySegment.objects.filter(pk__in=keys).update(end=moment)
    return len(empty) + sum(map(len, ended.values()))


def _moment(node: Node, now: datetime) -> datetime:
    """When it changed: the unknown began when we last knew, not when we noticed."""
    return node.last_seen_at if is_stale(node.last_seen_at, now) else now


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
