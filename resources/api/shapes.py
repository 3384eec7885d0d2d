"""What the API of resources takes and shows. Amounts are base units: device parts, milli-CPU, bytes."""

from rest_framework import serializers

from portal.lib.rest import inputs
from portal.lib.rest.outputs import Facts, Moment, Shown, Word, page_of
from portal.lib.rest.paging import PageQuery
from resources.models import Cluster, Node
from resources.selectors.freshness import is_stale


class NodesQuery(PageQuery):
    """Which nodes, oldest first."""

    cluster = inputs.text(63, help_text="Key of the cluster.")
    pool = inputs.text(63, help_text="Key of the pool.")
    stage = inputs.choice(Node.Stage.values)
    q = inputs.text(200, help_text="Part of the name.")
    stale = inputs.flag(help_text="true: only nodes that have not reported in time.")


class ClassAmounts(Shown):
    """One class over all nodes of a pool. What has not reported in time is `no_data`, never free."""

    name = serializers.CharField()
    kind = serializers.CharField(help_text="GPU, NPU, CPU, MEMORY …; empty when the catalogue does not know it.")
    class_key = serializers.CharField(source="amounts.class_key")
    resource = serializers.CharField(source="amounts.resource")
    installed = serializers.IntegerField(source="amounts.installed")
    usable = serializers.IntegerField(source="amounts.usable")
    held = serializers.IntegerField(source="amounts.held")
    free = serializers.IntegerField(source="amounts.free")
    out = serializers.IntegerField(source="amounts.out")
    no_data = serializers.IntegerField(source="amounts.no_data")


class PoolShown(Shown):
    """A pool with its amounts by class."""

    key = serializers.CharField(source="pool.key")
    name = serializers.CharField()
    environment = serializers.CharField(source="pool.environment")
    maintainer = serializers.CharField(source="pool.maintainer")
    borrowing = serializers.BooleanField(source="pool.borrowing")
    nodes = serializers.IntegerField()
    stale = serializers.IntegerField(help_text="How many of the nodes have not reported in time.")
    classes = ClassAmounts(many=True)


class NodePart(Shown):
    """What a node has of one class."""

    name = serializers.CharField()
    kind = serializers.CharField()
    class_key = serializers.CharField(source="part.class_key")
    resource = serializers.CharField(source="part.resource")
    installed = serializers.IntegerField(source="part.installed")
    allocatable = serializers.IntegerField(source="part.allocatable")
    held = serializers.IntegerField()
    free = serializers.IntegerField()


class NodeShown(Shown):
    """A node as its cluster last reported it."""

    id = serializers.UUIDField(source="node.id")
    name = serializers.CharField(source="node.name")
    cluster = serializers.CharField(source="node.cluster.key")
    pool = serializers.CharField(source="node.pool.key", default=None, allow_null=True)
    state = Word("NodeState", (*Node.Stage.values, "stale"), help_text="stale: the stage is too old to be believed.")
    stage = Word("NodeStage", Node.Stage.values, source="node.stage")
    ready = serializers.BooleanField(source="node.ready")
    reason = serializers.CharField(source="node.reason")
    architecture = serializers.CharField(source="node.architecture")
    os = serializers.CharField(source="node.os")
    labels = Facts(source="node.labels")
    last_seen_at = Moment(source="node.last_seen_at")
    parts = NodePart(many=True)


class DeviceShown(Shown):
    """One device, and how many of its parts are held."""

    uuid = serializers.CharField()
    index = serializers.IntegerField()
    resource_name = serializers.CharField(source="group.resource_name")
    class_key = serializers.CharField(source="group.resource_class.key", default=None, allow_null=True)
    model = serializers.CharField(source="group.model")
    memory_bytes = serializers.IntegerField(allow_null=True)
    numa_node = serializers.IntegerField(allow_null=True)
    healthy = serializers.BooleanField()
    detail = serializers.CharField()
    held_parts = serializers.SerializerMethodField()

    def get_held_parts(self, device: object) -> int:
        """Parts held now."""
        return int(self.context["held"].get(device.pk, 0))  # type: ignore[attr-defined]


class NodeDetail(NodeShown):
    """A node with its devices. The context holds the held parts by device."""

    devices = DeviceShown(many=True)


class ClusterShown(Shown):
    """A cluster. The context holds `now`."""

    key = serializers.CharField()
    name = serializers.CharField()
    driver = serializers.CharField()
    location = serializers.CharField()
    maintainer = serializers.CharField()
    state = Word("ClusterState", Cluster.State.values)
    simulated = serializers.BooleanField()
    isolation = serializers.BooleanField()
    stale = serializers.SerializerMethodField(help_text="It has not reported in time.")
    last_seen_at = Moment(allow_null=True)
    last_error = serializers.CharField()

    def get_stale(self, cluster: Cluster) -> bool:
        """Whether what is known of it is too old to place anything by."""
        return is_stale(cluster.last_seen_at, self.context["now"])


PoolPage = page_of(PoolShown)
NodePage = page_of(NodeShown)
ClusterPage = page_of(ClusterShown)
