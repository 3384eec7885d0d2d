"""Clusters, nodes and pools as their readers may see them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.core.cache import cache
from django.db.models import Count, Q, QuerySet

from resources.models import Cluster, Device, DeviceGroup, Node, Pool
from tenants import access
from tenants.access import Actor
from tenants.models import Grant
from tenants.selectors.grants import grants_visible_to

SERVICE = ("in", "out", "silent")
_SIMULATED = "resources.simulated"


def pools_visible_to(user: Actor, now: datetime) -> QuerySet[Pool]:
    """Pools the user looks after, and those that are granted now to a project the user sees."""
    own = pools_looked_after(user).order_by().values("pk")
    granted = grants_visible_to(user, now).order_by().values("pool_key")
    rows = Pool.objects.filter(Q(pk__in=own) | Q(key__in=granted))
    return rows.select_related("owner").order_by("key")


def pools_looked_after(user: Actor) -> QuerySet[Pool]:
    """Pools the user holds a role in, and every pool for those who see pools of the whole organisation."""
    return access.visible(user, Pool, "pool.see").order_by("key")


def nodes_changeable_by(user: Actor) -> QuerySet[Node]:
    """Nodes of the pools the user may change: seeing a node does not let one take it. Every node for those who
    manage pools of the whole organisation."""
    if access.at_platform(user, "pool.manage"):
        return Node.objects.all()
    return Node.objects.filter(pool__in=access.visible(user, Pool, "pool.change").order_by().values("pk"))


def nodes_visible_to(user: Actor) -> QuerySet[Node]:
    """Every node for those who see clusters; else the nodes of the pools the user looks after.

    A grant of a pool shows its amounts (`pools_visible_to`), not its nodes.
    """
    rows = Node.objects.select_related("cluster", "pool__owner")
    if access.at_platform(user, "cluster.see"):
        return rows
    return rows.filter(pool__in=pools_looked_after(user).order_by().values("pk"))


def require_hold(user: Actor, node: Node) -> None:
    """Raise Denied unless the user may cordon, drain, retire this node and bring it back."""
    if node.pool is None:
        access.require_platform(user, "cluster.manage")
    else:
        access.require(user, "pool.change", node.pool)


def may_hold(user: Actor, node: Node) -> bool:
    """Whether `require_hold` lets the user."""
    if node.pool is None:
        return access.at_platform(user, "cluster.manage")
    return access.can(user, "pool.change", node.pool)


def require_nodes(user: Actor) -> None:
    """Raise Denied unless the user may see the nodes of something."""
    if not pools_looked_after(user).exists():
        access.require_platform(user, "cluster.see")


@dataclass(frozen=True, slots=True)
class NodeFilter:
    """What to keep; an empty value keeps everything. With `stale_before` only nodes not seen since then."""

    cluster: str = ""
    pool: str = ""
    stage: str = ""
    text: str = ""
    stale_before: datetime | None = None
    class_key: str = ""
    troubled_before: datetime | None = None
    """With it only nodes with a problem, silence since then being one."""
    service: str = ""
    """One of SERVICE, told by what was heard since `heard_before`."""
    heard_before: datetime | None = None


def nodes_matching(user: Actor, wanted: NodeFilter) -> QuerySet[Node]:
    """Visible nodes narrowed by the filter."""
    kept = {
        "cluster__key": wanted.cluster,
        "pool__key": wanted.pool,
        "stage": wanted.stage,
        "name__icontains": wanted.text,
        "last_seen_at__lt": wanted.stale_before,
    }
    rows = nodes_visible_to(user).filter(**{lookup: value for lookup, value in kept.items() if value})
    if wanted.class_key:
        of_class = DeviceGroup.objects.filter(resource_class__key=wanted.class_key, capacity_parts__gt=0)
        rows = rows.filter(pk__in=of_class.order_by().values("node"))
    if wanted.service and wanted.heard_before:
        rows = rows.filter(in_service(wanted.heard_before).get(wanted.service, Q(pk__in=[])))
    return rows.filter(troubled(wanted.troubled_before)) if wanted.troubled_before else rows


def in_service(stale_before: datetime) -> dict[str, Q]:
    """Every node is one of SERVICE: jobs may be placed on it, they may not, or nobody knows how it is."""
    silent = Q(last_seen_at__lt=stale_before) | Q(stage=Node.Stage.UNREACHABLE)
    schedulable = Q(stage=Node.Stage.SCHEDULABLE)
    return {"in": ~silent & schedulable, "out": ~silent & ~schedulable, "silent": silent}


def troubled(stale_before: datetime) -> Q:
    """Nodes that need a person: not ready, not heard of, with an unhealthy device or one no class takes."""
    sick = Device.objects.filter(healthy=False).order_by().values("group__node")
    unknown = DeviceGroup.objects.filter(resource_class__isnull=True, capacity_parts__gt=0).order_by().values("node")
    silent = Q(ready=False) | Q(last_seen_at__lt=stale_before) | Q(stage=Node.Stage.UNREACHABLE)
    return ~Q(stage=Node.Stage.RETIRED) & (silent | Q(pk__in=sick) | Q(pk__in=unknown))


def stage_counts(user: Actor, wanted: NodeFilter = NodeFilter()) -> dict[str, int]:
    """How many visible nodes are in each stage that has any, the filter's own stage left aside."""
    rows = nodes_matching(user, replace(wanted, stage="")).order_by()
    return dict(rows.values_list("stage").annotate(count=Count("pk")))


def clusters_of_nodes(user: Actor) -> QuerySet[Cluster]:
    """Clusters of which the user may see a node, and for those who see clusters every one."""
    if access.at_platform(user, "cluster.see"):
        return Cluster.objects.all()
    return Cluster.objects.filter(pk__in=nodes_visible_to(user).order_by().values("cluster_id"))


def clusters_answering(clusters: QuerySet[Cluster], stale_before: datetime, *, answers: bool) -> QuerySet[Cluster]:
    """Of these, without the detached ones, those heard of since then, or those not."""
    heard = Q(last_seen_at__gte=stale_before)
    return clusters.exclude(state=Cluster.State.DETACHED).filter(heard if answers else ~heard)


def nodes_of_clusters(user: Actor, clusters: Sequence[Cluster]) -> QuerySet[Node]:
    """Visible nodes of these clusters with what is needed to sum them up."""
    rows = nodes_visible_to(user).filter(cluster__in=[cluster.pk for cluster in clusters])
    return rows.prefetch_related("groups__resource_class")


def nodes_of_pools(pools: Sequence[Pool]) -> QuerySet[Node]:
    """Nodes of these pools with what is needed to sum them up; the caller shows sums only."""
    rows = Node.objects.filter(pool__in=[pool.pk for pool in pools])
    return rows.select_related("cluster").prefetch_related("groups__resource_class")


def versions_of_pool(user: Actor, pool: Pool) -> QuerySet[Node]:
    """What tells the versions of the pool's nodes that the user sees: no more of them."""
    rows = nodes_visible_to(user).filter(pool=pool).select_related(None).order_by()
    return rows.only("name", "stage", "kernel", "container_runtime", "kubelet", "software")


def devices_of(node: Node) -> QuerySet[Device]:
    """The node's devices in the order of their groups."""
    rows = Device.objects.filter(group__node=node).select_related("group__resource_class")
    return rows.order_by("group__resource_name", "index")


def grants_of_pool(pool: Pool, user: Actor, now: datetime) -> QuerySet[Grant]:
    """Who may use the pool now: all of it for those who look after the pool, else what concerns the reader."""
    rows = Grant.objects.filter(Q(valid_to__isnull=True) | Q(valid_to__gt=now), valid_from__lte=now)
    if not access.can(user, "pool.see", pool):
        rows = grants_visible_to(user, now)
    return rows.filter(pool_key=pool.key).select_related("team", "project__team").order_by("valid_from", "id")


def simulated_names() -> list[str]:
    """Names of attached clusters that are simulated, known to a quarter of a minute: every page asks."""
    known = cache.get(_SIMULATED)
    if known is None:
        rows = Cluster.objects.filter(simulated=True).exclude(state=Cluster.State.DETACHED)
        known = list(rows.order_by("key").values_list("name", flat=True))
        cache.set(_SIMULATED, known, 15)
    names: list[str] = known
    return names
