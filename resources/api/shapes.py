"""What the API of resources takes and shows. Amounts are base units: device parts, milli-CPU, bytes."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from portal.lib.rest import inputs
from portal.lib.rest.outputs import Facts, Moment, Shown, Word, page_of
from portal.lib.rest.paging import PageQuery
from resources.models import Cluster, CostBasis, Node, Runtime
from resources.models.catalogue import Kind
from resources.selectors.devices import HEALTH
from resources.selectors.fleet import SERVICE
from resources.selectors.freshness import is_stale
from resources.stages import Standing


class NodesQuery(PageQuery):
    """Which nodes, oldest first."""

    cluster = inputs.text(63, help_text="Key of the cluster.")
    pool = inputs.text(63, help_text="Key of the pool.")
    stage = inputs.choice(Node.Stage.values)
    service = inputs.choice(SERVICE, help_text="in: takes jobs; out: does not; silent: nobody knows how it is.")
    q = inputs.text(200, help_text="Part of the name.")
    class_key = inputs.text(63, help_text="Key of a class the node has devices of.")
    stale = inputs.flag(help_text="true: only nodes that have not reported in time.")
    problems = inputs.flag(
        help_text="true: only nodes that are not ready, silent, or have sick or unrecognised devices."
    )


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
    purpose = serializers.CharField(source="pool.purpose")
    labels = Facts(source="pool.labels")
    owner = serializers.CharField(
        source="pool.owner.slug", default=None, allow_null=True, help_text="Short name of the team it belongs to."
    )
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
    reason = serializers.CharField(source="node.reason", help_text="The cluster's word; empty where it has none.")
    standing = Word(
        "NodeStanding",
        [str(word) for word in Standing],
        source="node.standing",
        help_text="What the portal itself has against it; empty for nothing.",
    )
    architecture = serializers.CharField(source="node.architecture")
    os = serializers.CharField(source="node.os")
    labels = Facts(source="node.labels")
    last_seen_at = Moment(source="node.last_seen_at")
    parts = NodePart(many=True)


def _held_by(context: Mapping[str, Any], device: Any) -> list[str]:
    """Jobs of others are not named."""
    return [str(one.job.pk) for one in context["holders"].get(device.pk, ()) if one.job is not None]


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
    verified = serializers.BooleanField(source="group.verified", allow_null=True)
    detail = serializers.CharField()
    card = serializers.CharField(
        help_text='Which card it is a slot of; "only": the one there is; empty: it is a card, or nobody says.'
    )
    held_parts = serializers.SerializerMethodField()
    held_by = serializers.SerializerMethodField(help_text="Ids of those jobs that hold parts of it and that you see.")

    def get_held_parts(self, device: object) -> int:
        """Parts held now."""
        return int(self.context["held"].get(device.pk, 0))  # type: ignore[attr-defined]

    def get_held_by(self, device: object) -> list[str]:
        """Jobs of others are not named."""
        return _held_by(self.context, device)


class ClusterShown(Shown):
    """A cluster. The context holds `now`."""

    key = serializers.CharField()
    name = serializers.CharField()
    driver = serializers.CharField()
    location = serializers.CharField()
    maintainer = serializers.CharField()
    cost_basis = Word("CostBasis", CostBasis.values)
    state = Word("ClusterState", Cluster.State.values)
    simulated = serializers.BooleanField()
    isolation = serializers.BooleanField()
    stale = serializers.SerializerMethodField(help_text="It has not reported in time.")
    last_seen_at = Moment(allow_null=True)
    last_error = serializers.CharField()
    clock_ahead_ms = serializers.IntegerField(
        allow_null=True, help_text="How far its clock is ahead of the portal's; negative: behind; null: not measured."
    )
    clock_within_ms = serializers.IntegerField(allow_null=True, help_text="Plus or minus so much.")
    clock_at = Moment(allow_null=True)

    def get_stale(self, cluster: Cluster) -> bool:
        """Whether what is known of it is too old to place anything by."""
        return is_stale(cluster.last_seen_at, self.context["now"])


class StageCount(Shown):
    """How many nodes are in a stage."""

    stage = Word("NodeState", (*Node.Stage.values, "stale"))
    nodes = serializers.IntegerField()


class DeviceOfFleet(Shown):
    """A device of any node. `use` is free, held, partly, out, or unknown without fresh data."""

    id = serializers.UUIDField(source="device.id")
    uuid = serializers.CharField(source="device.uuid")
    index = serializers.IntegerField(source="device.index")
    node = serializers.UUIDField(source="node.id")
    node_name = serializers.CharField(source="node.name")
    cluster = serializers.CharField(source="node.cluster.key")
    pool = serializers.CharField(source="node.pool.key", default=None, allow_null=True)
    class_key = serializers.CharField(source="device.group.resource_class.key", default=None, allow_null=True)
    resource_name = serializers.CharField(source="device.group.resource_name")
    kind = serializers.CharField()
    vendor = serializers.CharField(source="device.group.vendor")
    model = serializers.CharField(source="device.group.model")
    verified = serializers.BooleanField(
        source="device.group.verified",
        allow_null=True,
        help_text="false: nodes of this vendor were never read on real hardware; null: read from the machine itself.",
    )
    sharing = serializers.CharField(source="device.group.sharing")
    state = Word("DeviceState", HEALTH)
    detail = serializers.CharField(source="device.detail")
    card = serializers.CharField(
        source="device.card",
        help_text='Which card it is a slot of; "only": the one there is; empty: it is a card, or nobody says.',
    )
    held_by = serializers.SerializerMethodField(help_text="Ids of those jobs that hold parts of it and that you see.")
    memory_bytes = serializers.IntegerField(source="device.memory_bytes", allow_null=True)
    numa_node = serializers.IntegerField(source="device.numa_node", allow_null=True)
    held_parts = serializers.IntegerField(source="held")
    whole_parts = serializers.IntegerField(source="device.group.whole")
    use = Word("DeviceUse", ("free", "held", "partly", "out", "unknown"))

    def get_held_by(self, row: object) -> list[str]:
        """Jobs of others are not named."""
        return _held_by(self.context, row.device)  # type: ignore[attr-defined]


class RateShown(Shown):
    """A version of a rate, in millionths per unit and hour; null is unrated, which is not 0."""

    id = serializers.UUIDField()
    price_micro = serializers.IntegerField(allow_null=True)
    weight_micro = serializers.IntegerField(allow_null=True)
    currency = serializers.CharField()
    valid_from = Moment()
    valid_to = Moment(allow_null=True)
    published_at = Moment()
    note = serializers.CharField()


class ClassShown(Shown):
    """A resource class with the rate in force; null is none."""

    key = serializers.CharField(source="resource_class.key")
    name = serializers.CharField()
    names = Facts(source="resource_class.name")
    kind = Word("Kind", Kind.values, source="resource_class.kind")
    resource = serializers.CharField(source="resource_class.resource")
    match = Facts(source="resource_class.match")
    memory_bytes = serializers.IntegerField(source="resource_class.memory_bytes", allow_null=True)
    maintainer = serializers.CharField(source="resource_class.maintainer")
    retired_at = Moment(source="resource_class.retired_at", allow_null=True)
    rate = RateShown(allow_null=True)


class RuntimeShown(Shown):
    """A runtime. Without classes it is for every class of its kinds."""

    key = serializers.CharField()
    name = Facts()
    driver_kind = serializers.CharField()
    framework = serializers.CharField()
    version = serializers.CharField()
    image = serializers.CharField()
    runtime_class = serializers.CharField()
    driver_range = serializers.CharField(help_text="Versions of the device driver it needs; empty: not said.")
    task_types = serializers.ListField(child=serializers.CharField(), help_text="Empty: every type.")
    maintainer = serializers.CharField()
    retired_at = Moment(allow_null=True)
    kinds = serializers.ListField(child=serializers.CharField())
    classes = serializers.SerializerMethodField()
    declared_at = Moment()

    def get_classes(self, runtime: Runtime) -> list[str]:
        """Keys of the classes it is declared for."""
        return [row.key for row in runtime.classes.all()]


class DataShown(Shown):
    """A data source, of a project or of a team and all below it."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    kind = serializers.CharField()
    location = serializers.CharField()
    cluster = serializers.CharField(
        source="cluster_key", help_text="Key of the cluster that reaches it; empty: not said."
    )
    project = serializers.UUIDField(source="project_id", allow_null=True)
    team = serializers.UUIDField(source="team_id", allow_null=True)
    bytes = serializers.IntegerField(allow_null=True)
    digest = serializers.CharField()
    created_at = Moment()


class NodeMoveShown(Shown):
    """A node and the pool it would belong to; null is none."""

    node = serializers.UUIDField(source="node.id")
    name = serializers.CharField(source="node.name")
    from_pool = serializers.CharField(source="node.pool.key", default=None, allow_null=True)
    to_pool = serializers.CharField(source="to", allow_null=True)


class NodeMovesShown(Shown):
    """What a selector would take and give up now; nodes the reader may not see are a number."""

    joins = NodeMoveShown(many=True)
    leaves = NodeMoveShown(many=True)
    not_shown = serializers.IntegerField()


class GroupMoveShown(Shown):
    """A device group and the class its devices would be of; null is unrecognised."""

    node = serializers.CharField(source="group.node.name")
    resource_name = serializers.CharField(source="group.resource_name")
    from_class = serializers.CharField(source="today", allow_null=True)
    to_class = serializers.CharField(source="to", allow_null=True)


class GroupMovesShown(Shown):
    """What a match would take and give up now."""

    moves = GroupMoveShown(many=True)


DevicePage = page_of(DeviceOfFleet)
ClassPage = page_of(ClassShown)
RatePage = page_of(RateShown)
RuntimePage = page_of(RuntimeShown)
DataPage = page_of(DataShown)
PoolPage = page_of(PoolShown)
NodePage = page_of(NodeShown)
ClusterPage = page_of(ClusterShown)
