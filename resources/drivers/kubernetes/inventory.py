"""Nodes and what device plugins wrote, as the contract's inventory. Pure: JSON in, plain facts out.

Devices of a cluster are counted, not told apart: a slot has a name of its own only so that the portal can say who
holds which, and where a plugin lists its cards, their own ids are used.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from resources.drivers.base import WHOLE_DEVICE, SeenDevice, SeenDeviceGroup, SeenNode
from resources.drivers.kubernetes.asked import Use, amounts_of
from resources.drivers.kubernetes.cordon import cordon_of
from resources.drivers.kubernetes.network import network_of, topology_of
from resources.normalize import Catalogue, DeviceGroup, Health, NodeReading, read_node
from resources.normalize.documents import plain
from resources.normalize.facts import CardFacts, Ready, Software

Json = Mapping[str, Any]
MOST_SLOTS = 1_024
"""Slots of one group that get a row each; a group of more is a count in another unit (GiB, percent)."""
WITHDRAWN, COUNTED = "WithdrawnByPlugin", "CountedNotNamed"
DEVICE_INFO = "mindx-dl-deviceinfo-"
PLUGIN_SOURCE = "image"
_ASCEND = "huawei.com/"


@dataclass(frozen=True, slots=True)
class NodeReader:
    """Reads the nodes of one cluster at one time; what of a node cannot be read is a reason on it, never a crash.

    `plugin_lists` gives the ConfigMaps of Ascend's plugin by node; it is asked only when a node has such cards.
    """

    catalogue: Catalogue
    uses: Mapping[str, Use] = field(default_factory=dict)
    slices: Mapping[str, list[Json]] = field(default_factory=dict)
    plugin_lists: Callable[[], Mapping[str, Json]] = dict

    def read(self, node: Json) -> SeenNode | None:
        """The node; None for one without a name."""
        name = name_of(node)
        if not name:
            return None
        use = self.uses.get(name) or Use()
        status = node.get("status") if isinstance(node.get("status"), Mapping) else {}
        assert isinstance(status, Mapping)
        everybody = {r: use.ours.get(r, 0) + use.others.get(r, 0) for r in use.ours.keys() | use.others.keys()}
        reading = read_node(
            node,
            config_maps=self.plugin_lists().get(name) if _has_ascend(status) else None,
            slices=self.slices.get(name, []),
            requested={resource: str(amount) for resource, amount in everybody.items() if "/" in resource},
            catalogue=self.catalogue,
        )
        return _node(node, status, use, reading)


def by_node(slices: Iterable[Json]) -> dict[str, list[Json]]:
    """ResourceSlices by the node they are of."""
    found: dict[str, list[Json]] = defaultdict(list)
    for one in slices:
        found[str((one.get("spec") or {}).get("nodeName") or "")].append(one)
    return dict(found)


def _has_ascend(status: Json) -> bool:
    capacity = status.get("capacity")
    return isinstance(capacity, Mapping) and any(str(key).startswith(_ASCEND) for key in capacity)


def _node(node: Json, status: Json, use: Use, reading: NodeReading) -> SeenNode:
    about = status.get("nodeInfo") if isinstance(status.get("nodeInfo"), Mapping) else {}
    assert isinstance(about, Mapping)
    host, state = reading.host, reading.node
    cpu = (host.cpu_milli_capacity or host.cpu_milli_allocatable or 0) if host else 0
    memory = (host.memory_bytes_capacity or host.memory_bytes_allocatable or 0) if host else 0
    told = (node.get("metadata") or {}).get("labels")
    labels = {str(k): str(v) for k, v in told.items()} if isinstance(told, Mapping) else {}
    network, cordon = network_of(labels), cordon_of(node)
    return SeenNode(
        name=name_of(node),
        ready=state is not None and state.ready is Ready.READY,
        schedulable=state is not None and state.schedulable,
        reason=state.reasons[0].name if state is not None and state.reasons else "",
        cpu_milli=cpu,
        cpu_allocatable_milli=min(cpu, (host.cpu_milli_allocatable or 0) if host else 0),
        memory_bytes=memory,
        memory_allocatable_bytes=min(memory, (host.memory_bytes_allocatable or 0) if host else 0),
        storage_bytes=host.ephemeral_bytes_capacity if host else None,
        architecture=plain(about.get("architecture")) or "",
        os=plain(about.get("osImage")) or "",
        labels=labels,
        groups=tuple(_groups(name_of(node), reading)),
        pods=amounts_of(status.get("allocatable")).get("pods"),
        foreign={resource: amount for resource, amount in sorted(use.others.items()) if amount},
        reasons=state.reasons if state is not None else (),
        kernel=plain(about.get("kernelVersion")) or "",
        container_runtime=plain(about.get("containerRuntimeVersion")) or "",
        kubelet=plain(about.get("kubeletVersion")) or "",
        taints=state.blocking_taints if state is not None else (),
        software=(*reading.software, *_plugins(use)),
        companions=reading.companions,
        topology=topology_of(network),
        network=network,
        cluster_cordoned=cordon.cordoned,
        cluster_cordon_mark=cordon.mark,
    )


def _plugins(use: Use) -> Iterator[Software]:
    """Device plugins that run on the node, by the images of their pods."""
    for program in sorted(use.plugins, key=lambda one: (one.name, one.version)):
        yield Software("", program.name, program.version, PLUGIN_SOURCE)


def _groups(node: str, reading: NodeReading) -> Iterator[SeenDeviceGroup]:
    """The groups to ask for, and what nobody knows under its raw name. Zero left-overs of a group are no group."""
    versions = {one.vendor: one.version for one in reading.software if one.part == "driver"}
    seen: set[str] = set()
    for group in reading.devices:
        if group.resource in seen:
            continue
        seen.add(group.resource)
        yield _group(node, group, versions.get(group.vendor, ""))
    for raw in reading.unrecognised:
        total, usable = raw.total or 0, raw.schedulable or 0
        yield SeenDeviceGroup(
            resource_name=raw.resource,
            vendor="",
            kind="ACCELERATOR",
            model="",
            capacity_parts=total * WHOLE_DEVICE,
            allocatable_parts=min(total, usable) * WHOLE_DEVICE,
            devices=tuple(_slots(node, raw.resource, total, usable, None)),
            health=Health.UNKNOWN,
            reasons=raw.reasons,
            verified=False,
            unit="",
            sources={"slots_total": f"status.capacity.{raw.resource}"},
        )


def _group(node: str, group: DeviceGroup, driver: str) -> SeenDeviceGroup:
    total = group.slots_total or 0
    usable = min(total, group.slots_schedulable or 0)
    return SeenDeviceGroup(
        resource_name=group.resource,
        vendor=group.vendor,
        kind=group.kind.upper(),
        model=group.model or "",
        capacity_parts=total * WHOLE_DEVICE,
        allocatable_parts=usable * WHOLE_DEVICE,
        driver_version=driver,
        devices=tuple(_slots(node, group.resource, total, usable, group.memory_bytes, group.cards)),
        sharing=group.sharing,
        health=group.health,
        reasons=group.reasons,
        verified=group.verified,
        physical_total=group.physical_total,
        unit=group.unit,
        profile=group.profile or "",
        sources=group.sources,
        cards=group.cards,
    )


def _slots(
    node: str, resource: str, total: int, usable: int, memory: int | None, cards: Iterable[CardFacts] = ()
) -> Iterator[SeenDevice]:
    """One for every slot; of withdrawn ones the cluster does not say which they are: the last are taken."""
    card_of = {index: card.id for card in cards for index in card.indices}
    for index in range(total if total <= MOST_SLOTS else 0):
        healthy = index < usable
        yield SeenDevice(
            uuid=f"{node}/{resource}/{index}"[-120:],
            index=index,
            model="",
            memory_bytes=memory,
            numa_node=None,
            healthy=healthy,
            detail=COUNTED if healthy else WITHDRAWN,
            card=card_of.get(index, "")[:120],
        )


def name_of(thing: Json) -> str:
    """Its name; "" when it has none."""
    about = thing.get("metadata")
    name = about.get("name") if isinstance(about, Mapping) else None
    return name if isinstance(name, str) else ""
