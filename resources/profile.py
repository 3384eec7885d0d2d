"""What a pool can do, told by what is in it: nothing here is typed in."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from resources.models import Node
from resources.observed import SHARING_WORDS

LEVELS = (
    ("topology.kubernetes.io/region", "region"),
    ("topology.kubernetes.io/zone", "zone"),
)

NOT_OBSERVED = _("not observed")


@dataclass(frozen=True, slots=True)
class SharingIn:
    """How cards of a class are given out, in the normaliser's words ("": nobody looked): slots, and nodes with any."""

    sharing: str
    unit: str
    slots: int
    nodes: int

    @property
    def shared(self) -> bool:
        """Whether a slot is a part of a card."""
        return self.sharing not in ("", "exclusive")

    @property
    def word(self) -> str | Promise:
        """As pages say it."""
        return SHARING_WORDS.get(self.sharing, self.sharing or NOT_OBSERVED)


@dataclass(frozen=True, slots=True)
class ClassIn:
    """Devices of one class in a pool: how many on how many nodes, at most on one, and their memory in bytes (None:
    not reported)."""

    key: str
    kind: str
    recognised: bool
    devices: int
    nodes: int
    most_on_one: int
    memory_bytes: int | None
    drivers: Sequence[str]
    sharing: Sequence[SharingIn]

    @property
    def several_drivers(self) -> bool:
        """Whether nodes differ in the driver."""
        return len(self.drivers) > 1


@dataclass(frozen=True, slots=True)
class Profile:
    """The capability of a pool. Ranges are of nodes; an empty range is of no node."""

    nodes: int
    kinds: Sequence[str]
    architectures: Sequence[str]
    classes: Sequence[ClassIn]
    cores: tuple[int, int] | None
    memory: tuple[int, int] | None
    zones: Sequence[tuple[str, int]]
    cluster_kinds: Sequence[str]


def profile_of(nodes: Iterable[Node]) -> Profile:
    """Of the nodes that are not retired; their groups and classes should be prefetched."""
    rows = [node for node in nodes if node.stage != Node.Stage.RETIRED]
    classes = _classes(rows)
    kinds = sorted({one.kind for one in classes}) + (["CPU"] if rows else [])
    return Profile(
        nodes=len(rows),
        kinds=kinds,
        architectures=sorted({node.architecture for node in rows if node.architecture}),
        classes=classes,
        cores=_range([node.cpu_milli for node in rows]),
        memory=_range([node.memory_bytes for node in rows]),
        zones=[(word, len(values)) for label, word in LEVELS if (values := _values(rows, label))],
        cluster_kinds=sorted({node.cluster.driver for node in rows}),
    )


def _classes(nodes: Iterable[Node]) -> list[ClassIn]:
    on: dict[str, list[int]] = defaultdict(list)
    facts: dict[str, tuple[str, bool, int | None]] = {}
    drivers: dict[str, set[str]] = defaultdict(set)
    modes: dict[str, dict[tuple[str, str], list[int]]] = defaultdict(lambda: defaultdict(list))
    for node in nodes:
        here: dict[str, int] = defaultdict(int)
        for group in node.groups.all():
            if not group.capacity_parts:
                continue
            row = group.resource_class
            key = row.key if row else group.resource_name
            facts[key] = (group.kind, row is not None, row.memory_bytes if row else None)
            here[key] += group.capacity_parts // group.whole
            modes[key][group.sharing, group.unit].append(group.capacity_parts // group.whole)
            if group.driver_version:
                drivers[key].add(group.driver_version)
        for key, count in here.items():
            on[key].append(count)
    return [
        ClassIn(
            key=key,
            kind=facts[key][0],
            recognised=facts[key][1],
            devices=sum(counts),
            nodes=len(counts),
            most_on_one=max(counts),
            memory_bytes=facts[key][2],
            drivers=sorted(drivers[key]),
            sharing=[SharingIn(*mode, sum(slots), len(slots)) for mode, slots in sorted(modes[key].items())],
        )
        for key, counts in sorted(on.items())
    ]


def _values(nodes: Iterable[Node], label: str) -> set[str]:
    return {str(node.labels[label]) for node in nodes if node.labels.get(label)}


def _range(values: Sequence[int]) -> tuple[int, int] | None:
    return (min(values), max(values)) if values else None
