"""Tell those who look after them that a cluster is silent or that nodes left service."""

from collections import defaultdict
from datetime import datetime

from portal.lib.clock import to_ms
from resources.models import CapacitySegment, Cluster, Node
from resources.selectors.freshness import is_stale
from tenants.notify.events import Event
from tenants.notify.recipients import holders, in_roles
from tenants.roles import Role
from tenants.services.announce import announce

NAMED = 5


def announce_losses(*, cluster: Cluster, now: datetime) -> None:
    """Once for each silence, and once for the nodes of a pool lost in the same pass.

    Called right after `record_capacity`, in its transaction: a node is newly lost where its time without data
    began with this pass.
    """
    if is_stale(cluster.last_seen_at, now):
        announce(
            event=Event.CLUSTER_UNREACHABLE,
            subject=cluster,
            facts={
                "cluster": cluster.name,
                "since": to_ms(cluster.last_seen_at) if cluster.last_seen_at else None,
            },
            recipients=in_roles([Role.PLATFORM_ADMIN], reach="anywhere"),
            once=str(to_ms(cluster.last_seen_at)) if cluster.last_seen_at else "never",
            now=now,
        )
        return
    for pool, names in _newly_lost(cluster, now).items():
        announce(
            event=Event.NODE_LOST,
            subject=cluster,
            facts={"cluster": cluster.name, "pool": pool, "names": names[:NAMED], "count": len(names)},
            recipients=holders("pool.change", pool=pool),
            once=f"{pool}:{to_ms(now)}",
            now=now,
        )


def _newly_lost(cluster: Cluster, now: datetime) -> dict[str, list[str]]:
    """Names of nodes by pool key; a node without a pool is nobody's to look after."""
    rows = CapacitySegment.objects.filter(
        node__cluster=cluster,
        node__stage=Node.Stage.UNREACHABLE,
        node__pool__isnull=False,
        node__created_at__lt=now,
        resource="cpu",
        state="no_data",
        start=now,
        end__isnull=True,
    )
    lost: dict[str, list[str]] = defaultdict(list)
    for pool, name in rows.order_by("node__name").values_list("node__pool__key", "node__name"):
        lost[pool].append(name)
    return lost
