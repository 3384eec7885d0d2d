"""The nodes of a fleet document as their cluster reports them. Pure."""

from collections.abc import Iterable
from dataclasses import replace

from resources.drivers.base import WHOLE_DEVICE, NumaNode, SeenDevice, SeenDeviceGroup, SeenNode
from resources.normalize.facts import CardFacts

from .chance import mark
from .reading import FleetError, Reader

_MOST_NODES = 20_000
_MOST_DEVICES = 256
_NAME = r"sim-[a-z0-9]([a-z0-9-]{0,60})(\{n\})?"
_MILLI = 1_000
_TOLD = "simulated"
"""Source of what a simulated cluster says of its cards."""


def build_nodes(fleet: str, entries: Iterable[Reader], exceptions: Reader) -> tuple[SeenNode, ...]:
    """Nodes in the order of the document. Raises FleetError, also for an exception to a node that is not there."""
    nodes: dict[str, SeenNode] = {}
    for entry in entries:
        for node in _build(fleet, entry):
            if node.name in nodes:
                raise entry.error("name", f"{node.name} is there twice")
            nodes[node.name] = node
    if not nodes:
        raise FleetError("nodes: none")
    for name in exceptions.names:
        if name not in nodes:
            raise exceptions.error(name, "no such node")
        nodes[name] = _except(nodes[name], exceptions.part(name))
    return tuple(nodes.values())


def _build(fleet: str, entry: Reader) -> list[SeenNode]:
    """The nodes of one entry: alike but for name, rack and devices' ids. Names say that they are simulated."""
    pattern = entry.text("name", pattern=_NAME)
    count, first = entry.number("count", default=1, minimum=1, maximum=_MOST_NODES), entry.number("first", default=1)
    if count > 1 and not pattern.endswith("{n}"):
        raise entry.error("name", "several nodes need {n} at the end of their name")
    cpu, memory = entry.cpu("cpu"), entry.memory("memory")
    cpu_kept, memory_kept = entry.cpu("cpu_reserved", default="1"), entry.memory("memory_reserved", default="2Gi")
    if cpu_kept >= cpu or memory_kept >= memory:
        raise entry.error("cpu_reserved", "nothing is left for jobs")
    numa_nodes = entry.number("numa", default=1, minimum=1, maximum=16)
    template = SeenNode(
        name=pattern,
        ready=True,
        schedulable=True,
        reason="",
        cpu_milli=cpu,
        cpu_allocatable_milli=cpu - cpu_kept,
        memory_bytes=memory,
        memory_allocatable_bytes=memory - memory_kept,
        storage_bytes=entry.optional_memory("storage"),
        architecture=entry.text("architecture", default="amd64", pattern="amd64|arm64"),
        os=entry.text("os", default="linux"),
        labels=entry.labels("labels"),
        numa=_numa(numa_nodes, cpu, memory),
    )
    groups = [_group(part, numa_nodes) for part in entry.parts("devices", default=())]
    if len({group.resource_name for group in groups}) < len(groups):
        raise entry.error("devices", "a resource name twice")
    entry.done()
    width = max(2, len(str(first + count - 1)))
    names = [pattern.replace("{n}", f"{number:0{width}}") for number in range(first, first + count)]
    return [_named(fleet, name, template, groups) for name in names]


def _named(fleet: str, name: str, template: SeenNode, groups: Iterable[SeenDeviceGroup]) -> SeenNode:
    labels = {"kubernetes.io/hostname": name, **template.labels, "simulated": "true"}
    own = (
        replace(
            group,
            devices=tuple(
                replace(d, uuid=_uuid(fleet, name, group, d), card=_card(fleet, name, group, d)) for d in group.devices
            ),
        )
        for group in groups
    )
    return replace(template, name=name, labels=labels, groups=tuple(replace(g, cards=_cards(g)) for g in own))


def _uuid(fleet: str, node: str, group: SeenDeviceGroup, device: SeenDevice) -> str:
    prefix = "MIG" if "/mig-" in group.resource_name else group.kind
    return f"{prefix}-sim-{mark(fleet, node, group.resource_name, device.index, length=16)}"


def _card(fleet: str, node: str, group: SeenDeviceGroup, device: SeenDevice) -> str:
    """The same card of a node has the same name in every group."""
    return f"{group.kind}-sim-{mark(fleet, node, 'card', int(device.card), length=16)}" if device.card else ""


def _cards(group: SeenDeviceGroup) -> tuple[CardFacts, ...]:
    """The cards its devices are slices of. A card is well as long as all of them are."""
    parts: dict[str, list[SeenDevice]] = {}
    for device in group.devices:
        if device.card:
            parts.setdefault(device.card, []).append(device)
    return tuple(
        CardFacts(card, len(own), all(d.healthy for d in own), _TOLD, indices=tuple(d.index for d in own))
        for card, own in parts.items()
    )


def _group(part: Reader, numa_nodes: int) -> SeenDeviceGroup:
    """Devices of one resource name. A slice that is asked for by a name of its own is a whole one of that name; with
    `cards` they are slices of so many cards, as many of each."""
    count = part.number("count", minimum=1, maximum=_MOST_DEVICES)
    cards = part.number("cards", default=0, maximum=count)
    if cards and count % cards:
        raise part.error("cards", f"{count} slices are not the same number on each of {cards} cards")
    memory, model = part.optional_memory("memory"), part.text("model", longest=120)
    devices = tuple(
        SeenDevice(
            uuid="",
            index=index,
            model=model,
            memory_bytes=memory,
            numa_node=index * numa_nodes // count,
            healthy=True,
            card=str(index * cards // count) if cards else "",
        )
        for index in range(count)
    )
    group = SeenDeviceGroup(
        resource_name=part.text("resource", pattern=r"[a-z0-9.-]+/[A-Za-z0-9._-]+"),
        vendor=part.text("vendor", longest=60),
        kind=part.text("kind", pattern="GPU|NPU|ACCELERATOR"),
        model=model,
        capacity_parts=count * WHOLE_DEVICE,
        allocatable_parts=count * WHOLE_DEVICE,
        driver_version=part.text("driver_version", default="", longest=60),
        devices=devices,
        sharing=part.text("sharing", default="", longest=40),
        physical_total=cards or None,
        unit="slice" if cards else "card",
    )
    part.done()
    return group


def _numa(count: int, cpu_milli: int, memory: int) -> tuple[NumaNode, ...]:
    share = cpu_milli // _MILLI // count
    return tuple(
        NumaNode(index, tuple(range(index * share, (index + 1) * share)), memory // count) for index in range(count)
    )


def _except(node: SeenNode, part: Reader) -> SeenNode:
    """The node with what is the matter with it from the beginning."""
    ready, cordoned = part.flag("ready", default=True), part.flag("cordoned", default=False)
    reason = part.text("reason", default="" if ready and not cordoned else "Cordoned" if ready else "NotReady")
    for one in part.parts("unhealthy", default=()):
        node = _with_fault(node, one)
    part.done()
    return replace(node, ready=ready, schedulable=ready and not cordoned, reason=reason)


def _with_fault(node: SeenNode, part: Reader) -> SeenNode:
    resource, index, detail = part.text("resource"), part.number("index"), part.text("detail")
    part.done()
    uuids = [d.uuid for g in node.groups if g.resource_name == resource for d in g.devices if d.index == index]
    if not uuids:
        raise part.error("index", f"{node.name} has no device {index} of {resource}")
    return with_unhealthy(node, {uuids[0]: detail})


def with_unhealthy(node: SeenNode, details: dict[str, str]) -> SeenNode:
    """The node with these devices, by uuid, unhealthy: still capacity, not allocatable any more."""
    return replace(node, groups=tuple(_without(group, details) for group in node.groups))


def _without(group: SeenDeviceGroup, details: dict[str, str]) -> SeenDeviceGroup:
    if not any(device.uuid in details for device in group.devices):
        return group
    devices = tuple(
        replace(d, healthy=False, detail=details[d.uuid]) if d.uuid in details else d for d in group.devices
    )
    usable = sum(d.healthy for d in devices) * WHOLE_DEVICE
    changed = replace(group, devices=devices, allocatable_parts=usable)
    return replace(changed, cards=_cards(changed))
