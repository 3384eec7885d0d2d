"""Write what a cluster reported: a few statements, whatever the number of nodes and devices."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import Model

from resources.columns import group_columns, node_columns
from resources.drivers.base import Inventory, SeenNode
from resources.matching import class_of, facts_of_group, pool_of
from resources.models import Cluster, Device, DeviceGroup, Node, NodeEvent, Pool, ResourceClass
from resources.services.note_stages import note_stages
from resources.stages import stage_of
from resources.standing import ground_of_seen, standing_now

M = TypeVar("M", bound=Model)
BATCH = 1_000
NOT_LISTED, DEVICES_TURNED = "NotListed", "DevicesTurned"
_NOTHING = {"capacity_parts": 0, "allocatable_parts": 0}
_UNSEEN = {"healthy": False, "detail": NOT_LISTED}


class _Table(Generic[M]):
    """The rows of one model by key, and which of them are new or differ from what is stored."""

    def __init__(self, model: type[M], rows: Iterable[M], key: Callable[[M], Hashable]) -> None:
        self.model = model
        self.rows: dict[Hashable, M] = {key(row): row for row in rows}
        self._changed: dict[Hashable, M] = {}
        self._columns: dict[str, None] = {}

    def put(self, key: Hashable, facts: Mapping[str, Any], identity: Mapping[str, Any]) -> M:
        """The row with these facts; `identity` are the columns that only a new one gets."""
        row = self.rows.get(key)
        if row is None:
            row = self.rows[key] = self.model(**identity)
            self._changed[key] = row
        self.set(key, facts)
        return row

    def set(self, key: Hashable, facts: Mapping[str, Any]) -> None:
        """Change a row that is there."""
        row = self.rows[key]
        self._columns.update(dict.fromkeys(facts))
        if any(getattr(row, name) != value for name, value in facts.items()):
            for name, value in facts.items():
                setattr(row, name, value)
            self._changed[key] = row

    def write(self) -> None:
        """One statement for all that changed."""
        self.model._default_manager.bulk_create(
            self._changed.values(),
            batch_size=BATCH,
            update_conflicts=True,
            unique_fields=["id"],
            update_fields=list(self._columns),
        )


@transaction.atomic
def store_inventory(*, cluster: Cluster, inventory: Inventory) -> None:
    """Nodes, groups and devices as listed. Idempotent: of what is unchanged only `last_seen_at` is written.

    What is no longer listed has nothing to give but keeps its rows; a partial list proves no absence.
    A node listed twice counts once, as last listed.
    """
    seen = {node.name: node for node in inventory.nodes}
    nodes = _store_nodes(cluster, seen, inventory.at)
    groups = _store_groups(cluster, seen, nodes, inventory.at)
    _store_devices(cluster, seen, nodes, groups)
    cluster.nodes.filter(name__in=seen).update(last_seen_at=inventory.at)
    if inventory.complete:
        _lose(cluster, seen, inventory.at)


def _lose(cluster: Cluster, seen: Mapping[str, SeenNode], at: datetime) -> None:
    """Nodes that are no longer listed."""
    gone = cluster.nodes.exclude(name__in=seen).exclude(stage__in=[Node.Stage.RETIRED, Node.Stage.UNREACHABLE])
    lost = [
        NodeEvent(node_id=node, at=at, old=stage, new=Node.Stage.UNREACHABLE, cause=NOT_LISTED)
        for node, stage in gone.values_list("pk", "stage")
    ]
    if lost:
        reasons = [{"name": NOT_LISTED, "facts": {}}]
        rows = Node.objects.filter(pk__in=[event.node_id for event in lost])
        rows.update(stage=Node.Stage.UNREACHABLE, ready=False, reason=NOT_LISTED, reasons=reasons)
        note_stages(events=lost)


def _store_nodes(cluster: Cluster, seen: Mapping[str, SeenNode], at: datetime) -> dict[Hashable, Node]:
    pools = {pool.key: pool for pool in Pool.objects.all()}
    selectors = {key: pool.selector for key, pool in pools.items()}
    # Without the key: allocations that refer to these nodes go on being written meanwhile.
    stored = cluster.nodes.select_for_update(no_key=True).order_by("id")
    table = _Table(Node, stored, lambda node: node.name)
    known = set(table.rows)
    events = []
    for name, node in seen.items():
        pool = pools.get(pool_of(selectors, cluster.key, node.labels) or "")
        identity = {"cluster": cluster, "name": name, "last_seen_at": at, "created_at": at}
        row = table.put(name, node_columns(node) | {"pool_id": pool.pk if pool else None}, identity)
        standing = standing_now(row, pool, ground_of_seen(node))
        stage = stage_of(row.held_stage, ready=node.ready, schedulable=node.schedulable, standing=standing)
        if (row.stage, row.standing) != (stage, standing) or name not in known:
            events.append(_event(row, stage, standing, node, at, known=name in known))
        table.set(name, {"stage": stage, "standing": standing})
    table.write()
    note_stages(events=events)
    return table.rows


def _event(row: Node, stage: str, standing: str, node: SeenNode, at: datetime, *, known: bool) -> NodeEvent:
    """Why its cluster's report changes the stage: the cluster's own word, else the portal's."""
    cause = node.reason or row.held_stage.capitalize() or standing or ("Ready" if known else "Discovered")
    facts = {"standing": str(standing)} if standing else {}
    old = row.stage if known else ""
    return NodeEvent(node_id=row.pk, at=at, old=old, new=stage, cause=cause[:200], facts=facts)


def _store_groups(
    cluster: Cluster, seen: Mapping[str, SeenNode], nodes: Mapping[Hashable, Node], at: datetime
) -> dict[Hashable, DeviceGroup]:
    classes = {row.key: row for row in ResourceClass.objects.filter(retired_at__isnull=True)}
    matches = [(key, row.match) for key, row in classes.items()]
    stored = DeviceGroup.objects.filter(node__cluster=cluster)
    table = _Table(DeviceGroup, stored, lambda group: (group.node_id, group.resource_name))
    listed = {(nodes[name].pk, group.resource_name): group for name, node in seen.items() for group in node.groups}
    before = {key: _can_give(row) for key, row in table.rows.items()}
    for (node, name), group in listed.items():
        found = classes.get(class_of(matches, facts_of_group(group)) or "")
        facts = group_columns(group) | {"resource_class_id": found.pk if found else None}
        table.put((node, name), facts, {"node_id": node, "resource_name": name})
    reported = {nodes[name].pk for name in seen}
    for key, row in table.rows.items():
        if row.node_id in reported and key not in listed:
            table.set(key, _NOTHING)
    table.write()
    note_stages(events=list(_turns(table.rows, before, nodes, at)))
    return table.rows


def _can_give(group: DeviceGroup) -> str:
    """Its health and how many of its slots can be had, as `admission_words` reads it; "" for none at all."""
    usable, total = group.allocatable_parts // group.whole, group.capacity_parts // group.whole
    return f"{group.health} {usable}/{total}".strip() if total else ""


def _turns(
    groups: Mapping[Hashable, DeviceGroup], before: Mapping[Hashable, str], nodes: Mapping[Hashable, Node], at: datetime
) -> Iterator[NodeEvent]:
    """For each node whose known groups give something else than before: what, from what to what. No stage changes."""
    turned: dict[UUID, list[list[str]]] = {}
    for key, was in before.items():
        group = groups[key]
        if was != (now := _can_give(group)):
            turned.setdefault(group.node_id, []).append([group.resource_name, was, now])
    stages = {node.pk: node.stage for node in nodes.values()}
    for node, changed in turned.items():
        facts = {"changed": sorted(changed)}
        yield NodeEvent(node_id=node, at=at, old=stages[node], new=stages[node], cause=DEVICES_TURNED, facts=facts)


def _store_devices(
    cluster: Cluster,
    seen: Mapping[str, SeenNode],
    nodes: Mapping[Hashable, Node],
    groups: Mapping[Hashable, DeviceGroup],
) -> None:
    stored = Device.objects.filter(group__node__cluster=cluster)
    table = _Table(Device, stored, lambda device: (device.group_id, device.uuid))
    listed = {
        (groups[nodes[name].pk, group.resource_name].pk, device.uuid): device
        for name, node in seen.items()
        for group in node.groups
        for device in group.devices
    }
    for (group_id, uuid), device in listed.items():
        facts = {
            "index": device.index,
            "memory_bytes": device.memory_bytes,
            "numa_node": device.numa_node,
            "healthy": device.healthy,
            "detail": device.detail[:300],
            "card": device.card[:120],
        }
        table.put((group_id, uuid), facts, {"group_id": group_id, "uuid": uuid})
    reported = {nodes[name].pk for name in seen}
    answered = {group.pk for group in groups.values() if group.node_id in reported}
    for key, row in table.rows.items():
        if row.group_id in answered and key not in listed:
            table.set(key, _UNSEEN)
    table.write()
