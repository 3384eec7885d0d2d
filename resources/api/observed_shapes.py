"""What was read of nodes and clusters, as the API shows it. An empty text or null is not observed, never 0."""

from rest_framework import serializers

from portal.lib.rest.outputs import Facts, Moment, Shown, Word
from resources.api.shapes import ClassAmounts, ClusterShown, DeviceShown, NodeShown, PoolShown, StageCount
from resources.cordon_words import OTHERS
from resources.drivers.facts import Presence
from resources.models import ClusterCordon
from resources.normalize.facts import Health


class CauseShown(Shown):
    """A reason: its word, the facts of its sentence, and the sentence."""

    name = serializers.CharField()
    facts = Facts()
    sentence = serializers.CharField()


class CardShown(Shown):
    """A card whose slots are a group's."""

    id = serializers.CharField(help_text='As its source names it; "only": the one there is.')
    slots = serializers.IntegerField(allow_null=True, help_text="null: not told.")
    healthy = serializers.BooleanField(allow_null=True, help_text="null: not observed.")
    memory_bytes = serializers.IntegerField(allow_null=True)
    read_from = serializers.CharField(source="source")
    told_apart = serializers.BooleanField(help_text="Whether the cluster says which of the slots are this card's.")


class GroupFactsShown(Shown):
    """A device group and everything that was read of it."""

    resource_name = serializers.CharField(source="group.resource_name")
    class_key = serializers.CharField(source="group.resource_class.key", default=None, allow_null=True)
    vendor = serializers.CharField(source="group.vendor")
    model = serializers.CharField(source="group.model")
    verified = serializers.BooleanField(
        source="group.verified",
        allow_null=True,
        help_text="false: nodes of this vendor were never read on real hardware; null: read from the machine itself.",
    )
    health = Word("GroupHealth", (*map(str, Health), ""), source="group.health", help_text="empty: not observed.")
    sharing = serializers.CharField(source="group.sharing")
    unit = serializers.CharField(source="group.unit", help_text="What one slot is.")
    profile = serializers.CharField(source="group.profile")
    capacity_parts = serializers.SerializerMethodField(help_text="null: the amount could not be read.")
    allocatable_parts = serializers.IntegerField(source="group.allocatable_parts")
    physical_total = serializers.IntegerField(source="group.physical_total", allow_null=True)
    driver_version = serializers.CharField(source="group.driver_version")
    reasons = CauseShown(source="causes", many=True)
    cards = CardShown(source="group.cards", many=True)
    sources = serializers.DictField(
        source="group.sources", child=serializers.CharField(), help_text="The key each fact was read from."
    )

    def get_capacity_parts(self, row: object) -> int | None:
        """What is installed, unless nobody knows."""
        return row.group.capacity_parts if row.counted else None  # type: ignore[attr-defined]


class SoftwareShown(Shown):
    """A version that belongs to a vendor's devices, or of a device plugin (no vendor)."""

    vendor = serializers.CharField()
    part = serializers.CharField()
    version = serializers.CharField()
    read_from = serializers.CharField(source="source")


class NetworkFactShown(Shown):
    """A fact of the node's network or of its place in it; declared by a label unless it was measured."""

    name = serializers.CharField()
    value = serializers.CharField()
    read_from = serializers.CharField(source="source")
    measured = serializers.BooleanField()


class CompanionShown(Shown):
    """A resource that counts the same silicon in another unit."""

    resource = serializers.CharField()
    belongs_to = serializers.CharField(allow_null=True)
    unit = serializers.CharField()
    total = serializers.IntegerField(allow_null=True)


class ClusterCordonShown(Shown):
    """How a node stands on its own cluster."""

    state = Word(
        "ClusterCordonState",
        ("", OTHERS, *(state for state in ClusterCordon.State.values if state != ClusterCordon.State.CLOSED)),
        help_text="empty: not cordoned there, or not known to be.",
    )
    text = serializers.CharField()
    since = Moment(allow_null=True)
    asked_by = serializers.CharField(source="row.asked_by", default="")
    note = serializers.CharField(source="row.note", default="")
    error = serializers.CharField(help_text="Why the last try did nothing.")


class NodeDetail(NodeShown):
    """A node with its devices and everything that was read of it. The context holds the held parts by device."""

    devices = DeviceShown(many=True)
    groups = GroupFactsShown(many=True)
    reasons = CauseShown(source="causes", many=True)
    taints = serializers.ListField(source="node.taints", child=serializers.CharField())
    kernel = serializers.CharField(source="node.kernel")
    container_runtime = serializers.CharField(source="node.container_runtime")
    kubelet = serializers.CharField(source="node.kubelet")
    software = SoftwareShown(source="node.software", many=True)
    companions = CompanionShown(source="node.companions", many=True)
    topology = serializers.ListField(
        source="node.topology", child=serializers.CharField(), help_text="Where it stands, outermost first."
    )
    network = NetworkFactShown(source="node.network", many=True)
    cluster_cordon = ClusterCordonShown(source="cordon")
    cluster_cordon_off = serializers.CharField(
        source="cordon_off", help_text="Why it cannot be cordoned on its cluster; empty where it can."
    )


class TopicRead(Shown):
    """A subject of the fact sheet; `why` says why it was not observed."""

    subject = serializers.CharField(source="key")
    presence = Word("Presence", tuple(map(str, Presence)))
    why = serializers.CharField()
    items = serializers.ListField(child=serializers.DictField())


class ClusterDetail(Shown):
    """A cluster with the sums over its nodes that the reader sees, and its fact sheet. The context holds `now`."""

    cluster = ClusterShown()
    nodes = serializers.IntegerField()
    stages = StageCount(many=True)
    classes = ClassAmounts(many=True)
    pools = serializers.ListField(child=serializers.CharField())
    jobs = serializers.IntegerField(help_text="How many jobs hold something there, whoever may see them.")
    facts_at = Moment(source="cluster.facts_at", allow_null=True, help_text="When the facts were read; null: not yet.")
    facts = TopicRead(many=True)


class VersionShown(Shown):
    """A version and the nodes that have it."""

    version = serializers.CharField()
    nodes = serializers.SerializerMethodField()

    def get_nodes(self, row: object) -> list[str]:
        """Their names."""
        return [node.name for node in row.nodes]  # type: ignore[attr-defined]


class DriftShown(Shown):
    """A part of which the nodes of a pool have several versions."""

    subject = serializers.CharField()
    of = serializers.CharField(help_text="Vendor, runtime or plugin; empty for parts of the host.")
    versions = VersionShown(many=True)
    unknown = serializers.IntegerField(help_text="Nodes that report no version of it.")


class PoolDetail(PoolShown):
    """A pool, and what differs between those of its nodes that the reader sees."""

    drift = DriftShown(many=True)
