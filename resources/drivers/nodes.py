"""Nodes and their devices as a cluster reports them: the part of the contract that says what there is. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from resources.drivers.facts import NetworkFact
from resources.normalize.facts import CardFacts, Companion, Health, Reason, Software


@dataclass(frozen=True, slots=True)
class SeenDevice:
    """One physical accelerator: `index` is the vendor's ordinal on its node, `uuid` the vendor's own id."""

    uuid: str
    index: int
    model: str
    memory_bytes: int | None
    numa_node: int | None
    healthy: bool
    detail: str = ""
    card: str = ""
    """Where it is a slot of a card that is shared out: which card; "" where nobody says."""


@dataclass(frozen=True, slots=True)
class SeenDeviceGroup:
    """Devices of one resource name on a node, counted as the node reports them."""

    resource_name: str
    vendor: str
    kind: str  # GPU, NPU, ACCELERATOR
    model: str
    capacity_parts: int
    allocatable_parts: int
    driver_version: str = ""
    devices: tuple[SeenDevice, ...] = ()
    sharing: str = ""
    """How a card is shared, in the normaliser's words; "" where nobody looked."""
    health: Health | None = None
    """None: to be told from the devices, if those are known one by one."""
    reasons: tuple[Reason, ...] = ()
    verified: bool | None = None
    """False: this vendor's nodes were never read on real hardware. None: read from the machine itself."""
    physical_total: int | None = None
    unit: str = "card"
    """What one slot is: a card, a slice, GiB …"""
    profile: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Fact -> the key it was read from."""
    cards: tuple[CardFacts, ...] = ()
    """The cards that the group's slots are parts of, as far as somebody names them."""


@dataclass(frozen=True, slots=True)
class NumaNode:
    """CPU ids and memory of one NUMA node."""

    index: int
    cpus: tuple[int, ...]
    memory_bytes: int | None


@dataclass(frozen=True, slots=True)
class SeenNode:
    """A node as its cluster reports it. Capacity is what is installed, allocatable what jobs may use."""

    name: str
    ready: bool
    schedulable: bool
    reason: str  # why not ready or not schedulable, "" otherwise
    cpu_milli: int
    cpu_allocatable_milli: int
    memory_bytes: int
    memory_allocatable_bytes: int
    storage_bytes: int | None
    architecture: str
    os: str
    labels: Mapping[str, str] = field(default_factory=dict)
    groups: tuple[SeenDeviceGroup, ...] = ()
    numa: tuple[NumaNode, ...] = ()
    pods: int | None = None
    """How many pods it takes; None: no bound is known."""
    foreign: Mapping[str, int] = field(default_factory=dict)
    """What is asked for there by others than the portal: `cpu` in milli, `memory` in bytes, `pods`, and slots by
    resource name."""
    reasons: tuple[Reason, ...] = ()
    """Everything that speaks against it, in the normaliser's words; `reason` is the first."""
    kernel: str = ""
    container_runtime: str = ""
    kubelet: str = ""
    taints: tuple[str, ...] = ()
    """Those that keep jobs away, as key=value:effect."""
    software: tuple[Software, ...] = ()
    companions: tuple[Companion, ...] = ()
    topology: tuple[str, ...] = ()
    """Where it stands in the network, outermost first; empty: nobody says."""
    network: tuple[NetworkFact, ...] = ()
    cluster_cordoned: bool = False
    """Whether the cluster itself keeps new pods away by an operator's word, whoever's."""
    cluster_cordon_mark: str = ""
    """The mark that a portal's cordon left there."""
