"""What was read of nodes and clusters, in words: reasons as sentences, how cards are shared, the fact sheet.

An unknown word is shown as it is: a newer driver may say more than these tables know.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.lib.text import gettext_noop
from resources.models import Cluster, DeviceGroup, Node
from resources.normalize.reasons import SENTENCES
from resources.selectors.catalogue import ClassLooks
from resources.shapes import class_name

Text = str | Promise
Row = Mapping[str, Any]
OUR_SENTENCES = {
    "NotListed": gettext_noop("The cluster no longer lists the node."),
    "NotAllowed": gettext_noop("The observer may not read it."),
    "NotServed": gettext_noop("The API server does not serve it."),
    "Partial": gettext_noop("Only a part of the list was had."),
    "NotLooked": gettext_noop("Nobody has looked yet."),
}
SHARING_WORDS: dict[str, Text] = {
    "exclusive": gettext_lazy("whole cards"),
    "mig-mixed": gettext_lazy("MIG slices, mixed"),
    "mig-single": gettext_lazy("MIG slices, one size"),
    "time-slicing": gettext_lazy("taking turns (time slices)"),
    "mps": gettext_lazy("shared by MPS"),
    "shared-unknown": gettext_lazy("shared, nobody says how"),
    "shared-suspected": gettext_lazy("probably shares"),
    "amd-partition": gettext_lazy("partitions"),
    "vnpu": gettext_lazy("virtual NPUs"),
}
TOPICS: dict[str, Text] = {
    "server": gettext_lazy("Server version"),
    "extensions": gettext_lazy("Extensions"),
    "schedulers": gettext_lazy("Second schedulers"),
    "device_plugins": gettext_lazy("Device plugins"),
    "metrics": gettext_lazy("Metrics interfaces"),
    "storage_classes": gettext_lazy("Storage classes"),
    "volumes": gettext_lazy("Persistent volumes"),
    "runtime_classes": gettext_lazy("Runtime classes"),
    "priority_classes": gettext_lazy("Priority classes"),
}
NETWORK_WORDS: dict[str, Text] = {
    "region": gettext_lazy("Region"),
    "zone": gettext_lazy("Zone"),
    "datacenter": gettext_lazy("Data centre"),
    "core": gettext_lazy("Core switch"),
    "spine": gettext_lazy("Spine switch"),
    "block": gettext_lazy("Network block"),
    "leaf": gettext_lazy("Leaf switch"),
    "rack": gettext_lazy("Rack"),
    "domain": gettext_lazy("Domain of fast links"),
    "rdma": gettext_lazy("RDMA"),
    "bandwidth": gettext_lazy("Bandwidth"),
    "latency": gettext_lazy("Latency"),
    "sriov": gettext_lazy("SR-IOV"),
}
DRIFT_WORDS: dict[str, Text] = {
    "kernel": gettext_lazy("Kernel"),
    "container_runtime": gettext_lazy("Container runtime"),
    "kubelet": gettext_lazy("Kubelet"),
    "driver": gettext_lazy("Driver"),
    "firmware": gettext_lazy("Firmware"),
    "runtime": gettext_lazy("Compute runtime"),
    "plugin": gettext_lazy("Device plugin"),
}


@dataclass(frozen=True, slots=True)
class Cause:
    """A reason word with its facts and its sentence."""

    name: str
    facts: Row
    sentence: str


def causes(rows: Iterable[Row]) -> list[Cause]:
    """Stored reasons in words."""
    return [Cause(row["name"], row["facts"], sentence_of(row["name"], row["facts"])) for row in rows]


def sentence_of(name: str, facts: Row) -> str:
    """The sentence of a reason; a name without one is shown as it is, and so is a sentence whose facts are missing."""
    known = SENTENCES.get(name) or OUR_SENTENCES.get(name)
    if known is None:
        return name
    try:
        return _(known).format_map(facts)
    except KeyError:
        return name


@dataclass(frozen=True, slots=True)
class Fact:
    """Something known with where it was read; no value is not observed."""

    word: Text
    value: str
    source: str


def whose(node: Node) -> list[Fact]:
    """Where the node stands, whose it is, whom to ask and what it costs, each with who says so (R-03)."""
    pool, cluster = node.pool, node.cluster
    told = pool.maintainer if pool else ""
    return [
        Fact(_LOCATION, cluster.location, _("its cluster")),
        Fact(_PLACE, " / ".join(node.topology), _("labels of the node")),
        Fact(_OWNER, pool.owner.name if pool and pool.owner else "", _("its pool")),
        Fact(_MAINTAINER, told or cluster.maintainer, _("its pool") if told else _("its cluster")),
        Fact(_COST, cluster.get_cost_basis_display(), _("its cluster")),
    ]


_LOCATION, _PLACE = gettext_lazy("Location"), gettext_lazy("Place in the network")
_OWNER, _MAINTAINER, _COST = gettext_lazy("Belongs to"), gettext_lazy("Maintainer"), gettext_lazy("Cost basis")


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """A device group with everything that was read of it."""

    group: DeviceGroup
    name: str
    causes: Sequence[Cause]
    sharing: Text
    sources: Sequence[tuple[str, str]]

    @property
    def slots(self) -> int:
        """How many can be asked for, whatever one of them is."""
        return self.group.capacity_parts // self.group.whole

    @property
    def counted(self) -> bool:
        """Whether its amount is known: an unreadable one is stored as nothing, and must not be shown as 0."""
        return not (self.group.health == "unknown" and self.group.capacity_parts == 0)


def group_facts(node: Node, looks: ClassLooks) -> list[GroupFacts]:
    """Of every group that is still there; the node's groups and their classes should be prefetched."""
    return [
        GroupFacts(
            group,
            class_name(group, looks),
            causes(group.reasons),
            SHARING_WORDS.get(group.sharing, group.sharing),
            sorted(group.sources.items()),
        )
        for group in node.groups.all()
        if group.capacity_parts or group.health == "unknown"
    ]


def software_of(node: Node) -> list[Fact]:
    """Versions of what runs on the node, each with its source."""
    found = [Fact(DRIFT_WORDS[name], getattr(node, name), source) for name, source in _HOST.items()]
    for one in node.software:
        word = f"{one['vendor']} {one['part']}" if one["vendor"] else one["part"]
        found.append(Fact(word, one["version"], one["source"]))
    return found


_HOST = {
    "kernel": "nodeInfo.kernelVersion",
    "container_runtime": "nodeInfo.containerRuntimeVersion",
    "kubelet": "nodeInfo.kubeletVersion",
}


@dataclass(frozen=True, slots=True)
class TopicShown:
    """A subject of the fact sheet; `why` is a sentence for what was not observed."""

    key: str
    word: Text
    presence: str
    why: str
    items: Sequence[Row]


def sheet_of(cluster: Cluster) -> list[TopicShown]:
    """The subjects in the order of the page; none when nothing was read yet."""
    return [
        TopicShown(key, word, found["presence"], sentence_of(found["why"], {}), found["items"])
        for key, word in TOPICS.items()
        if (found := cluster.facts.get(key)) is not None
    ]
