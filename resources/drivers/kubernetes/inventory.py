"""Nodes, pods and what device plugins wrote, as the contract's inventory. Pure: JSON in, plain facts out.

Devices of a cluster are counted, not told apart: a slot has a name of its own only so that the portal can say who
holds which, and where a plugin lists its cards, their own ids are used.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from resources.drivers.base import WHOLE_DEVICE, Inventory, SeenDevice, SeenDeviceGroup, SeenNode
from resources.drivers.kubernetes import names
from resources.normalize import Catalogue, DeviceGroup, NodeReading, read_node
from resources.normalize.amounts import BadAmount, milli, whole
from resources.normalize.facts import Ready

Json = Mapping[str, Any]
MOST_SLOTS = 1_024
"""Slots of one group that get a row each; a group of more is a count in another unit (GiB, percent)."""
WITHDRAWN, COUNTED = "WithdrawnByPlugin", "CountedNotNamed"
DEVICE_INFO = "mindx-dl-deviceinfo-"
_ENDED = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class Lists:
    """Everything that was listed of a cluster at one time."""

    nodes: tuple[Json, ...]
    pods: tuple[Json, ...] = ()
    config_maps: tuple[Json, ...] = ()
    slices: tuple[Json, ...] = ()
    complete: bool = True


@dataclass(slots=True)
class Use:
    """What pods on a node ask for: cpu in milli, memory in bytes, pods, and resource names in their own units."""

    ours: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    others: dict[str, int] = field(default_factory=lambda: defaultdict(int))


def inventory_of(lists: Lists, catalogue: Catalogue, at: datetime) -> Inventory:
    """Every node that has a name; what of a node cannot be read is a reason on it, never a crash."""
    uses = uses_of(lists.pods)
    maps = {_name(one).removeprefix(DEVICE_INFO): one for one in lists.config_maps}
    slices: dict[str, list[Json]] = defaultdict(list)
    for one in lists.slices:
        slices[str((one.get("spec") or {}).get("nodeName") or "")].append(one)
    nodes = tuple(
        _node(node, uses.get(_name(node), Use()), maps.get(_name(node)), slices.get(_name(node), []), catalogue)
        for node in lists.nodes
        if _name(node)
    )
    return Inventory(nodes=nodes, at=at, complete=lists.complete)


def uses_of(pods: Iterable[Json]) -> dict[str, Use]:
    """Requests of every pod that holds something, by node: ours, and everybody else's (DaemonSets too)."""
    found: dict[str, Use] = defaultdict(Use)
    for pod in pods:
        spec = pod.get("spec") or {}
        node = spec.get("nodeName")
        if not node or (pod.get("status") or {}).get("phase") in _ENDED:
            continue
        ours = names.ATTEMPT in ((pod.get("metadata") or {}).get("labels") or {})
        amounts = found[node].ours if ours else found[node].others
        amounts["pods"] += 1
        for resource, amount in requests_of(spec).items():
            amounts[resource] += amount
    return dict(found)


def requests_of(spec: Json) -> dict[str, int]:
    """What a pod holds: the sum of its containers, or its largest start-up step, and its overhead.

    Sidecars (init containers that are always restarted) count with the containers, and under every later step.
    """
    running = _sum(container for container in spec.get("containers") or [])
    largest: dict[str, int] = {}
    sidecars: dict[str, int] = defaultdict(int)
    for step in spec.get("initContainers") or []:
        own = _of(step)
        if step.get("restartPolicy") == "Always":
            for resource, amount in own.items():
                sidecars[resource] += amount
            own = {}
        for resource in own.keys() | sidecars.keys():
            largest[resource] = max(largest.get(resource, 0), own.get(resource, 0) + sidecars[resource])
    total = {
        resource: max(running.get(resource, 0) + sidecars.get(resource, 0), largest.get(resource, 0))
        for resource in running.keys() | largest.keys() | sidecars.keys()
    }
    for resource, amount in _amounts(spec.get("overhead")).items():
        total[resource] = total.get(resource, 0) + amount
    return {resource: amount for resource, amount in total.items() if amount}


def _sum(containers: Iterable[Json]) -> dict[str, int]:
    total: dict[str, int] = defaultdict(int)
    for container in containers:
        for resource, amount in _of(container).items():
            total[resource] += amount
    return dict(total)


def _of(container: Json) -> dict[str, int]:
    """Requests; a limit without one is a request too."""
    asked = container.get("resources") or {}
    return _amounts(asked.get("limits")) | _amounts(asked.get("requests"))


def _amounts(block: object) -> dict[str, int]:
    """cpu in milli, all else in its own unit, rounded up; what cannot be read is left out."""
    found = {}
    for resource, text in block.items() if isinstance(block, Mapping) else ():
        try:
            found[str(resource)] = milli(text) if resource == "cpu" else whole(text)
        except BadAmount:
            continue
    return found


def _node(node: Json, use: Use, config_map: Json | None, slices: list[Json], catalogue: Catalogue) -> SeenNode:
    everybody = {r: use.ours.get(r, 0) + use.others.get(r, 0) for r in use.ours.keys() | use.others.keys()}
    asked = {resource: str(amount) for resource, amount in everybody.items() if "/" in resource}
    reading = read_node(node, config_maps=config_map, slices=slices, requested=asked, catalogue=catalogue)
    status = node.get("status") if isinstance(node.get("status"), Mapping) else {}
    assert isinstance(status, Mapping)
    about = status.get("nodeInfo") or {}
    host, state = reading.host, reading.node
    cpu = (host.cpu_milli_capacity or host.cpu_milli_allocatable or 0) if host else 0
    memory = (host.memory_bytes_capacity or host.memory_bytes_allocatable or 0) if host else 0
    ready = state is not None and state.ready is Ready.READY
    return SeenNode(
        name=_name(node),
        ready=ready,
        schedulable=state is not None and state.schedulable,
        reason=state.reasons[0].name if state is not None and state.reasons else "",
        cpu_milli=cpu,
        cpu_allocatable_milli=min(cpu, (host.cpu_milli_allocatable or 0) if host else 0),
        memory_bytes=memory,
        memory_allocatable_bytes=min(memory, (host.memory_bytes_allocatable or 0) if host else 0),
        storage_bytes=host.ephemeral_bytes_capacity if host else None,
        architecture=str(about.get("architecture") or ""),
        os=str(about.get("osImage") or ""),
        labels={str(k): str(v) for k, v in ((node.get("metadata") or {}).get("labels") or {}).items()},
        groups=tuple(_groups(_name(node), reading)),
        pods=_amounts(status.get("allocatable")).get("pods"),
        foreign={resource: amount for resource, amount in sorted(use.others.items()) if amount},
    )


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
        devices=tuple(_slots(node, group.resource, total, usable, group.memory_bytes)),
    )


def _slots(node: str, resource: str, total: int, usable: int, memory: int | None) -> Iterator[SeenDevice]:
    """One for every slot; of withdrawn ones the cluster does not say which they are: the last are taken."""
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
        )


def _name(thing: Json) -> str:
    about = thing.get("metadata")
    name = about.get("name") if isinstance(about, Mapping) else None
    return name if isinstance(name, str) else ""
