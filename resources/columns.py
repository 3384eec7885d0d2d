"""What a driver saw as the values of our columns. Pure: cut to what a column holds, unknown stays unknown."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from resources.drivers.base import SeenDeviceGroup, SeenNode
from resources.normalize.facts import CardFacts, Health, Reason

_MOST_CARDS = 2**31 - 1


def node_columns(seen: SeenNode) -> dict[str, Any]:
    """Of a node, but for what the portal decides (pool, stage)."""
    return {
        "ready": seen.ready,
        "reason": seen.reason[:200],
        "architecture": seen.architecture[:20],
        "os": seen.os[:60],
        "labels": dict(seen.labels),
        "topology": list(seen.topology),
        "numa": [{"index": n.index, "cpus": list(n.cpus), "memory": n.memory_bytes} for n in seen.numa],
        "cpu_milli": seen.cpu_milli,
        "cpu_allocatable_milli": seen.cpu_allocatable_milli,
        "memory_bytes": seen.memory_bytes,
        "memory_allocatable_bytes": seen.memory_allocatable_bytes,
        "storage_bytes": seen.storage_bytes,
        "pods": seen.pods,
        "foreign": dict(seen.foreign),
        "reasons": _reasons(seen.reasons),
        "kernel": seen.kernel[:120],
        "container_runtime": seen.container_runtime[:120],
        "kubelet": seen.kubelet[:120],
        "taints": list(seen.taints),
        "software": [asdict(one) for one in seen.software],
        "companions": [asdict(one) for one in seen.companions],
        "network": [asdict(one) for one in seen.network],
        "cluster_cordoned": seen.cluster_cordoned,
        "cluster_cordon_mark": seen.cluster_cordon_mark[:36],
    }


def group_columns(seen: SeenDeviceGroup) -> dict[str, Any]:
    """Of a device group, but for its class."""
    return {
        "vendor": seen.vendor[:60],
        "kind": seen.kind,
        "model": seen.model[:120],
        "driver_version": seen.driver_version[:60],
        "capacity_parts": seen.capacity_parts,
        "allocatable_parts": seen.allocatable_parts,
        "sharing": seen.sharing[:40],
        "health": str(_health(seen) or ""),
        "reasons": _reasons(seen.reasons),
        "verified": seen.verified,
        "physical_total": None if seen.physical_total is None else min(seen.physical_total, _MOST_CARDS),
        "unit": seen.unit[:20],
        "profile": seen.profile[:120],
        "sources": dict(seen.sources),
        "cards": [_card(card) for card in seen.cards],
    }


def _card(card: CardFacts) -> dict[str, Any]:
    shown = {"id": card.id[:120], "slots": card.slots, "healthy": card.healthy, "source": card.source}
    return shown | {"memory_bytes": card.memory_bytes, "told_apart": bool(card.indices)}


def _health(seen: SeenDeviceGroup) -> Health | None:
    """As its driver judges it, else as its devices are; None when neither is known."""
    if seen.health is not None or not seen.devices:
        return seen.health
    well = sum(device.healthy for device in seen.devices)
    if well == len(seen.devices):
        return Health.HEALTHY
    return Health.DEGRADED if well else Health.UNHEALTHY


def _reasons(reasons: Iterable[Reason]) -> list[dict[str, Any]]:
    return [{"name": reason.name, "facts": dict(reason.facts)} for reason in reasons]
