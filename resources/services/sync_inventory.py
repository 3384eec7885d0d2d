"""Bring what we know of a cluster in step with what it reports now."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from portal.lib.locks import try_session_lock
from resources.drivers.base import DriverUnavailable, Inventory, SeenDeviceGroup, SeenNode
from resources.models import Cluster, Device, DeviceGroup, Node, Pool, ResourceClass
from resources.selectors.drivers import driver_for
from resources.services.record_capacity import record_capacity


def sync_inventory(*, cluster: Cluster, now: datetime) -> bool:
    """True when the cluster answered. Idempotent; one pass at a time per cluster.

    A cluster that does not answer keeps its last facts and their age: stale is shown stale (R-09).
    A partial list proves no absence.
    """
    with try_session_lock(f"inventory:{cluster.pk}") as held:
        if not held:
            return True
        try:
            driver = driver_for(cluster)
            capability, inventory = driver.capability(), driver.inventory()
        except DriverUnavailable as error:
            Cluster.objects.filter(pk=cluster.pk).update(last_error=error.detail[:300])
            record_capacity(cluster=cluster, now=now)
            return False
        with transaction.atomic():
            _store(cluster, inventory, now)
            Cluster.objects.filter(pk=cluster.pk).update(
                last_seen_at=inventory.at,
                last_error="",
                simulated=capability.simulated,
                isolation=capability.isolation,
                isolation_detail=capability.isolation_detail[:300],
            )
            record_capacity(cluster=cluster, now=now)
    return True


def _store(cluster: Cluster, inventory: Inventory, now: datetime) -> None:
    pools = list(Pool.objects.all())
    classes = list(ResourceClass.objects.filter(retired_at__isnull=True))
    for seen in inventory.nodes:
        _store_groups(_store_node(cluster, seen, pools, inventory.at), seen.groups, classes)
    if inventory.complete:
        gone = cluster.nodes.exclude(name__in=[n.name for n in inventory.nodes]).exclude(
            stage__in=[Node.Stage.RETIRED, Node.Stage.UNREACHABLE]
        )
        gone.update(stage=Node.Stage.UNREACHABLE, ready=False, reason="NotListed")


def _store_node(cluster: Cluster, seen: SeenNode, pools: Iterable[Pool], at: datetime) -> Node:
    facts = {
        "ready": seen.ready,
        "reason": seen.reason[:200],
        "architecture": seen.architecture,
        "os": seen.os[:60],
        "labels": dict(seen.labels),
        "numa": [{"index": n.index, "cpus": list(n.cpus), "memory": n.memory_bytes} for n in seen.numa],
        "cpu_milli": seen.cpu_milli,
        "cpu_allocatable_milli": seen.cpu_allocatable_milli,
        "memory_bytes": seen.memory_bytes,
        "memory_allocatable_bytes": seen.memory_allocatable_bytes,
        "storage_bytes": seen.storage_bytes,
        "last_seen_at": at,
        "pool": next((pool for pool in pools if _selects(pool, cluster, seen)), None),
    }
    node, _ = Node.objects.update_or_create(
        cluster=cluster, name=seen.name, defaults=facts, create_defaults={**facts, "created_at": at}
    )
    stage = _stage(node, seen)
    if stage != node.stage:
        Node.objects.filter(pk=node.pk).update(stage=stage)
        node.stage = stage
    return node


def _stage(node: Node, seen: SeenNode) -> str:
    """Operators' stages stay; what the cluster says moves a node in and out of service.

    Validation jobs are not there yet: a discovered node that is ready is taken into service at once (R-10 open).
    """
    if node.stage in (Node.Stage.DRAINING, Node.Stage.RETIRED):
        return node.stage
    if not seen.ready:
        return Node.Stage.UNREACHABLE
    return Node.Stage.SCHEDULABLE if seen.schedulable else Node.Stage.CORDONED


def _selects(pool: Pool, cluster: Cluster, seen: SeenNode) -> bool:
    """A pool's selector is a map of labels; `cluster` names a cluster key. An empty selector selects nothing."""
    wanted = dict(pool.selector)
    if not wanted or wanted.pop("cluster", cluster.key) != cluster.key:
        return False
    return all(seen.labels.get(label) == value for label, value in wanted.items())


def _store_groups(node: Node, groups: Iterable[SeenDeviceGroup], classes: list[ResourceClass]) -> None:
    names = []
    for seen in groups:
        names.append(seen.resource_name)
        group, _ = DeviceGroup.objects.update_or_create(
            node=node,
            resource_name=seen.resource_name,
            defaults={
                "vendor": seen.vendor[:60],
                "kind": seen.kind,
                "model": seen.model[:120],
                "driver_version": seen.driver_version[:60],
                "capacity_parts": seen.capacity_parts,
                "allocatable_parts": seen.allocatable_parts,
                "resource_class": _class_of(seen, classes),
            },
        )
        _store_devices(group, seen)
    # What is no longer listed has nothing to give; held devices keep their rows.
    node.groups.exclude(resource_name__in=names).update(capacity_parts=0, allocatable_parts=0)
    Device.objects.filter(group__node=node).exclude(group__resource_name__in=names).update(
        healthy=False, detail="NotListed"
    )


def _store_devices(group: DeviceGroup, seen: SeenDeviceGroup) -> None:
    for device in seen.devices:
        Device.objects.update_or_create(
            group=group,
            uuid=device.uuid,
            defaults={
                "index": device.index,
                "memory_bytes": device.memory_bytes,
                "numa_node": device.numa_node,
                "healthy": device.healthy,
                "detail": device.detail[:300],
            },
        )
    group.devices.exclude(uuid__in=[d.uuid for d in seen.devices]).update(healthy=False, detail="NotListed")


def _class_of(seen: SeenDeviceGroup, classes: list[ResourceClass]) -> ResourceClass | None:
    """The class whose match has the most conditions, all true; None leaves the group unrecognised, never dropped."""
    facts = {
        "resource_name": seen.resource_name,
        "vendor": seen.vendor,
        "kind": seen.kind,
        "model": seen.model,
    }
    fitting = [c for c in classes if c.match and all(facts.get(name) == value for name, value in c.match.items())]
    return max(fitting, key=lambda c: (len(c.match), c.key), default=None)
