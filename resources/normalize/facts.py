"""What a reading consists of: frozen facts, each with the key it was read from. `None` is unknown, never 0."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Health(StrEnum):
    """Of a device group, judged from one look at the node."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    UNHEALTHY = "unhealthy"
    UNKNOWN = "unknown"


class Ready(StrEnum):
    """Of the node, as its Ready condition says."""

    READY = "ready"
    NOT_READY = "not_ready"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is as it is: a name from `reasons.SENTENCES` and the facts its sentence needs."""

    name: str
    facts: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Host:
    """Milli-CPU and bytes, rounded up; None where the node does not say."""

    cpu_milli_capacity: int | None = None
    memory_bytes_capacity: int | None = None
    ephemeral_bytes_capacity: int | None = None
    cpu_milli_allocatable: int | None = None
    memory_bytes_allocatable: int | None = None
    ephemeral_bytes_allocatable: int | None = None


@dataclass(frozen=True, slots=True)
class NodeState:
    """Whether pods may start here. `blocking_taints` as "key=value:effect"."""

    ready: Ready
    schedulable: bool
    blocking_taints: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()


ONLY_CARD = "only"
"""In place of an id: the one card of its kind on the node, whatever it is called."""


@dataclass(frozen=True, slots=True)
class CardFacts:
    """A physical card that is shared out in slots. `id` is as its source names it, or `ONLY_CARD`.

    `slots` are those of the group on it (None: not told); `indices` which of the group's slots these are, counted from
    0, and empty where the source does not tell them apart. `healthy` None: nobody said.
    """

    id: str
    slots: int | None
    healthy: bool | None
    source: str
    memory_bytes: int | None = None
    indices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceGroup:
    """Devices of one node that are asked for by one resource name.

    `slots_*` count what the name advertises (cards, slices, GiB: see `unit`), whatever the state of the node;
    `memory_bytes` is of one card, or of one slice when `sharing` starts with "mig-". `sources` tells for each
    fact the key it came from. A group that is not `verified` was never read on real hardware of its vendor.
    """

    vendor: str
    kind: str
    resource: str
    model: str | None
    memory_bytes: int | None
    physical_total: int | None
    slots_total: int | None
    slots_schedulable: int | None
    sharing: str
    health: Health
    verified: bool
    unit: str = "card"
    profile: str | None = None
    cores: int | None = None
    device_id: str | None = None
    slots_requested: int | None = None
    reasons: tuple[Reason, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    cards: tuple[CardFacts, ...] = ()
    """Of a group whose slots are parts of cards: the cards, as far as somebody names them."""

    @property
    def slots_free(self) -> int | None:
        """Schedulable and not asked for by a live pod, never below 0; None when either is unknown."""
        if self.slots_requested is None or self.slots_schedulable is None:
            return None
        return max(0, self.slots_schedulable - self.slots_requested)


@dataclass(frozen=True, slots=True)
class Companion:
    """A resource that counts the same silicon in another unit. `belongs_to` is None when that is not advertised."""

    resource: str
    belongs_to: str | None
    unit: str
    total: int | None


@dataclass(frozen=True, slots=True)
class Unrecognised:
    """A resource that looks like an accelerator and that no row of the catalogue knows."""

    resource: str
    total: int | None
    schedulable: int | None
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Software:
    """A version that belongs to a vendor's devices: `part` is "driver", "firmware" or a runtime's name."""

    vendor: str
    part: str
    version: str
    source: str


@dataclass(frozen=True, slots=True)
class NodeReading:
    """All that one document says. `host` and `node` are None for a ResourceSlice."""

    name: str | None
    host: Host | None
    node: NodeState | None
    devices: tuple[DeviceGroup, ...]
    companions: tuple[Companion, ...] = ()
    ignored: tuple[str, ...] = ()
    unrecognised: tuple[Unrecognised, ...] = ()
    software: tuple[Software, ...] = ()
