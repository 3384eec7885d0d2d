"""Nodes for tests, in few words."""

from typing import Any

from resources.normalize import DeviceGroup, NodeReading, read_node

GIB = 1 << 30
MIB = 1 << 20
READY = {"type": "Ready", "status": "True", "reason": "KubeletReady"}


def a_node(
    capacity: dict[str, Any] | None = None,
    allocatable: dict[str, Any] | None = None,
    *,
    labels: dict[str, Any] | None = None,
    annotations: dict[str, Any] | None = None,
    conditions: Any = (READY,),
    spec: Any = None,
) -> dict[str, Any]:
    """A ready node; what is allocatable is the capacity unless said."""
    capacity = capacity or {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "node-a", "labels": labels or {}, "annotations": annotations or {}},
        "spec": spec or {},
        "status": {
            "conditions": list(conditions),
            "capacity": {"cpu": "64", "memory": "256Gi", **capacity},
            "allocatable": {"cpu": "64", "memory": "256Gi", **(capacity if allocatable is None else allocatable)},
        },
    }


def only(reading: NodeReading) -> DeviceGroup:
    """The single device group of a reading."""
    assert len(reading.devices) == 1, [group.resource for group in reading.devices]
    return reading.devices[0]


def group_of(capacity: dict[str, Any], allocatable: dict[str, Any] | None = None, **rest: Any) -> DeviceGroup:
    """The single device group of such a node."""
    return only(read_node(a_node(capacity, allocatable, **rest)))


def names(reasons: Any) -> set[str]:
    """Reason words without their facts."""
    return {reason.name for reason in reasons}


def told(group: DeviceGroup) -> tuple[Any, ...]:
    """Model, memory, cards, slots, slots that may be used, sharing, health."""
    return (
        group.model,
        group.memory_bytes,
        group.physical_total,
        group.slots_total,
        group.slots_schedulable,
        group.sharing,
        group.health.value,
    )
