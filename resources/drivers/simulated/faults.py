"""What can go wrong on a simulated cluster: for whom, from when to when. Pure.

A fault is told once and then stands: it may only begin now or later, and only end earlier than it was to. So nothing
that was seen is unsaid by it, and what will be seen follows from it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from .chance import roll
from .fleet import THOUSAND


class FaultKind(StrEnum):
    """What goes wrong while the fault lasts."""

    SLOW_START = "SlowStart"  # starts take `delay_ms` longer
    NEVER_STARTS = "NeverStarts"  # starts wait for the end of the fault
    NEVER_READY = "NeverReady"  # services do not become ready before the end of the fault
    IMAGE_FAILURE = "ImageFailure"  # pulls fail, and are tried again; `mode` "final": the start has failed
    OUT_OF_MEMORY = "OutOfMemory"  # members are killed `delay_ms` after their start
    PREEMPTED = "Preempted"  # members are evicted `delay_ms` after their start
    VANISHED = "Vanished"  # members are gone without a trace, `delay_ms` after they were applied
    NODE_DEATH = "NodeDeath"  # the node is not ready, its members are unknown; `mode` "vanish": they are gone
    DEVICE_UNHEALTHY = "DeviceUnhealthy"  # `device`, or all of the node: not allocatable, `mode` says the detail
    RELEASE_LAG = "ReleaseLag"  # what ends is held `delay_ms` longer: devices, with `mode` "objects" everything
    LEAKED_DEVICE = "LeakedDevice"  # devices of ended members are seen busy until the end of the fault
    UNREACHABLE = "Unreachable"  # every call fails
    LOSSY = "Lossy"  # some calls fail, and what they asked for has happened or not
    DUPLICATE = "Duplicate"  # workloads are listed twice
    PARTIAL = "Partial"  # lists leave some out, and say so


OF_NODES = frozenset({FaultKind.NODE_DEATH, FaultKind.DEVICE_UNHEALTHY})
OF_CALLS = frozenset({FaultKind.UNREACHABLE, FaultKind.LOSSY, FaultKind.DUPLICATE, FaultKind.PARTIAL})


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault in [since, until), for what it names; naming nothing it is the whole cluster's."""

    kind: FaultKind
    since_ms: int
    until_ms: int | None = None
    """None: it does not end by itself."""
    node: str = ""
    workload: str = ""
    """Name of a workload, or id of its job."""
    device: str = ""
    chance: int = THOUSAND
    """Of so many in a thousand; which ones, the seed decides."""
    delay_ms: int = 0
    mode: str = ""
    key: int = 0
    """Given by the store."""

    def covers(self, moment: int) -> bool:
        """Whether it goes on at this moment."""
        return self.since_ms <= moment and (self.until_ms is None or moment < self.until_ms)

    def strikes_from(self, moment: int) -> int | None:
        """When it strikes what has been in its way since `moment`; None: it is over by then."""
        strike = max(self.since_ms, moment + self.delay_ms)
        return strike if self.until_ms is None or strike < self.until_ms else None

    def hits(self, seed: int, *words: object) -> bool:
        """Whether chance lets it hit these."""
        return self.chance >= THOUSAND or roll(seed, self.key, self.kind, *words, of=THOUSAND) < self.chance

    def befalls(self, seed: int, node: str, applied_ms: int, *words: object) -> bool:
        """Whether a workload on this node is hit that was applied then: what is wrong with a node is so for all."""
        if self.until_ms is not None and self.until_ms <= applied_ms:
            return False
        return self.hits(seed, node) if self.kind in OF_NODES else self.hits(seed, *words)

    def to_json(self) -> dict[str, Any]:
        """As a store keeps it."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "Fault":
        """From what a store has kept."""
        return cls(**{**raw, "kind": FaultKind(raw["kind"])})


@dataclass(frozen=True)
class Faults:
    """All faults of a cluster, sorted for those who ask."""

    all: tuple[Fault, ...] = ()
    of_workloads: Mapping[str, tuple[Fault, ...]] = field(init=False)
    of_nodes: Mapping[str, tuple[Fault, ...]] = field(init=False)
    of_cluster: tuple[Fault, ...] = field(init=False)

    def __post_init__(self) -> None:
        named = [fault for fault in self.all if fault.workload]
        on_nodes = [fault for fault in self.all if fault.node and not fault.workload]
        object.__setattr__(self, "of_workloads", _sorted_by(named, "workload"))
        object.__setattr__(self, "of_nodes", _sorted_by(on_nodes, "node"))
        rest = tuple(fault for fault in self.all if not fault.workload and not fault.node)
        object.__setattr__(self, "of_cluster", rest)

    def of_member(self, name: str, job_id: str, node: str) -> tuple[Fault, ...]:
        """Those that may concern a member of this workload on this node, calls left aside."""
        if not self.all:
            return ()
        found = self.of_call(name, job_id, (node,))
        return tuple(fault for fault in found if fault.kind not in OF_CALLS and fault.node in ("", node))

    def of_node(self, node: str) -> tuple[Fault, ...]:
        """Those of a node or of all nodes."""
        return self.of_nodes.get(node, ()) + self.of_cluster

    def of_call(self, name: str, job_id: str, nodes: Iterable[str]) -> tuple[Fault, ...]:
        """Those that may befall a call about this workload."""
        if not self.all:
            return ()
        named = self.of_workloads.get(name, ()) + self.of_workloads.get(job_id, ())
        return named + tuple(f for node in nodes for f in self.of_nodes.get(node, ())) + self.of_cluster


def _sorted_by(faults: Iterable[Fault], key: str) -> dict[str, tuple[Fault, ...]]:
    found: dict[str, tuple[Fault, ...]] = {}
    for fault in faults:
        name = getattr(fault, key)
        found[name] = (*found.get(name, ()), fault)
    return found
