"""Nodes and pools as pages show them: amounts beside their unit, words beside their state."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from portal.lib import units
from portal.lib.localised import localised
from resources.models import Cluster, Device, DeviceGroup, Node, Pool
from resources.normalize.facts import Health
from resources.selectors.capacity import Axis, Capacity, Held, Part, capacity_of, parts_of
from resources.selectors.catalogue import ClassLooks, kind_of_resource
from resources.selectors.freshness import STALE_AFTER, is_stale

UNIT_OF: dict[str, units.Unit] = {"device": "devices", "cpu": "cpu", "memory": "bytes", "storage": "bytes"}


@dataclass(frozen=True, slots=True)
class ClassRow:
    """A class with its name, kind and unit in front of its amounts."""

    name: str
    kind: str
    unit: units.Unit
    amounts: Capacity

    @property
    def word(self) -> str:
        """The unit in words, for a head or a cell."""
        return units.unit_word(self.unit, 0)

    @property
    def taken(self) -> int:
        """What is held of the usable capacity; `amounts.held` also counts nodes that are out or silent."""
        return self.amounts.usable - self.amounts.free

    @property
    def rate(self) -> str:
        """Taken of usable, in per cent."""
        return units.percent(self.taken, self.amounts.usable)


@dataclass(frozen=True, slots=True)
class PartRow:
    """What a node has of one class, and how much of it is held."""

    name: str
    kind: str
    unit: units.Unit
    part: Part
    held: int

    @property
    def word(self) -> str:
        """The unit in words."""
        return units.unit_word(self.unit, 0)

    @property
    def rate(self) -> str:
        """Held of allocatable, in per cent."""
        return units.percent(self.held, self.part.allocatable)

    @property
    def free(self) -> int:
        """What is left; more held than allocatable leaves nothing."""
        return max(0, self.part.allocatable - self.held)


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node in a list. `state` is its stage, or stale when it has not reported in time."""

    node: Node
    state: str
    parts: Sequence[PartRow]

    @property
    def cpu(self) -> PartRow:
        """Its cores."""
        return self.parts[0]

    @property
    def memory(self) -> PartRow:
        """Its memory."""
        return self.parts[1]

    @property
    def devices(self) -> Sequence[PartRow]:
        """Its devices by class."""
        return self.parts[2:]


def node_row(node: Node, held: Mapping[Axis, int], looks: ClassLooks, now: datetime) -> NodeRow:
    """The node with what is held on it; its groups should be prefetched."""
    parts = [_part_row(part, held, looks) for part in parts_of(node)]
    return NodeRow(node, state_of(node, now), parts)


def state_of(node: Node, now: datetime) -> str:
    """The stage, unless it is too old to be believed; a node the operators took out stays out."""
    believed = node.stage in (Node.Stage.RETIRED, Node.Stage.UNREACHABLE)
    return "stale" if is_stale(node.last_seen_at, now) and not believed else node.stage


def class_rows(capacities: Sequence[Capacity], looks: ClassLooks) -> list[ClassRow]:
    """Capacities with their names."""
    return [
        ClassRow(looks[c.class_key].name, _kind(c.class_key, c.resource, looks), UNIT_OF.get(c.resource, "count"), c)
        for c in capacities
    ]


@dataclass(frozen=True, slots=True)
class PoolRow:
    """A pool in a list, with how many of its nodes have not reported in time."""

    pool: Pool
    name: str
    nodes: int
    stale: int
    classes: Sequence[ClassRow]


def pool_rows(
    pools: Sequence[Pool], nodes: Sequence[Node], held: Held, looks: ClassLooks, now: datetime
) -> list[PoolRow]:
    """Each pool with the sums over its nodes."""
    found = []
    for pool in pools:
        own = [node for node in nodes if node.pool_id == pool.pk]
        classes = class_rows(capacity_of(own, held, now - STALE_AFTER), looks)
        late = sum(is_stale(node.last_seen_at, now) for node in own)
        found.append(PoolRow(pool, localised(pool.name, pool.key), len(own), late, classes))
    return found


def class_name(group: DeviceGroup, looks: ClassLooks) -> str:
    """What the group's devices are called; without a class, as the node calls them."""
    return looks[group.resource_class.key].name if group.resource_class else group.resource_name


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """A device in a list. `state` is one of `selectors.devices.HEALTH`: stale when its node has not reported in time,
    not observed when its node cannot tell."""

    device: Device
    node: Node
    name: str
    kind: str
    recognised: bool
    state: str
    held: int

    @property
    def use(self) -> str:
        """held, partly, free, or out: nothing new is placed there; without fresh data it is unknown."""
        if self.held:
            return "held" if self.held >= self.device.group.whole else "partly"
        if self.state == "stale":
            return "unknown"
        usable = (
            self.state in ("healthy", "not_observed") and self.node.stage == Node.Stage.SCHEDULABLE and self.recognised
        )
        return "free" if usable else "out"


def device_row(device: Device, node: Node, held: int, looks: ClassLooks, now: datetime) -> DeviceRow:
    """The device with what is held of it; its group and class should be selected with it."""
    silent = is_stale(node.last_seen_at, now) or node.stage == Node.Stage.UNREACHABLE
    group = device.group
    return DeviceRow(
        device=device,
        node=node,
        name=class_name(group, looks),
        kind=group.kind,
        recognised=group.resource_class_id is not None,
        state="stale" if silent else _health(device),
        held=held,
    )


def _health(device: Device) -> str:
    """A device nobody called ill is healthy only where its group can be judged at all."""
    if not device.healthy:
        return "unhealthy"
    return "not_observed" if device.group.health == Health.UNKNOWN else "healthy"


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """A cluster in a list: nodes by stage, devices by class and pools are those the reader may see."""

    cluster: Cluster
    state: str
    nodes: int
    stages: Sequence[tuple[str, int]]
    classes: Sequence[ClassRow]
    pools: Sequence[Pool]

    @property
    def devices(self) -> Sequence[ClassRow]:
        """The classes that are devices."""
        return [row for row in self.classes if row.amounts.resource == "device"]


def stages_of(nodes: Sequence[Node], now: datetime) -> list[tuple[str, int]]:
    """How many nodes are in each stage that has any, in the order of a node's life; stale ones are stale only."""
    counts = Counter(state_of(node, now) for node in nodes)
    return [(stage, counts[stage]) for stage in (*Node.Stage.values, "stale") if counts[stage]]


def clusters_of(nodes: Sequence[Node]) -> list[Cluster]:
    """The clusters these nodes are of, each once."""
    return list({node.cluster.key: node.cluster for node in nodes}.values())


def cluster_state(cluster: Cluster, now: datetime) -> str:
    """attached, paused or detached; stale or not seen where an attached one has not reported in time."""
    if cluster.state == Cluster.State.DETACHED or not is_stale(cluster.last_seen_at, now):
        return cluster.state
    return "stale" if cluster.last_seen_at else "not_observed"


def cluster_rows(
    clusters: Sequence[Cluster], nodes: Sequence[Node], held: Held, looks: ClassLooks, now: datetime
) -> list[ClusterRow]:
    """Each cluster with the sums over its nodes."""
    found = []
    for cluster in clusters:
        own = [node for node in nodes if node.cluster_id == cluster.pk]
        pools = {node.pool.key: node.pool for node in own if node.pool}
        classes = class_rows(capacity_of(own, held, now - STALE_AFTER), looks)
        state = cluster_state(cluster, now)
        found.append(
            ClusterRow(cluster, state, len(own), stages_of(own, now), classes, [pools[key] for key in sorted(pools)])
        )
    return found


def _part_row(part: Part, held: Mapping[Axis, int], looks: ClassLooks) -> PartRow:
    return PartRow(
        name=looks[part.class_key].name,
        kind=_kind(part.class_key, part.resource, looks),
        unit=UNIT_OF.get(part.resource, "count"),
        part=part,
        held=held.get((part.class_key, part.resource), 0),
    )


def _kind(class_key: str, resource: str, looks: ClassLooks) -> str:
    return looks[class_key].kind or kind_of_resource(resource)
