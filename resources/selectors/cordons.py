"""Cordons on clusters themselves: whether they can be asked for, and what was asked of a node."""

from resources.drivers.base import DriverUnavailable
from resources.drivers.kubernetes.connection import Right
from resources.drivers.kubernetes.rights import Feature, features_off
from resources.drivers.steward import Steward
from resources.models import Cluster, ClusterCordon, ClusterCredential, ClusterEndpoint, Node
from resources.selectors.connections import connection_of
from resources.selectors.drivers import KUBERNETES

NO_CORDONS, DETACHED, NO_STEWARD, MAY_NOT = "NoClusterCordons", "ClusterDetached", "StewardMissing", "StewardMayNot"


def cordon_off(cluster: Cluster) -> str:
    """Why nodes cannot be cordoned on the cluster itself; "" when they can. Two queries at most."""
    if cluster.driver != KUBERNETES:
        return NO_CORDONS
    if cluster.state == Cluster.State.DETACHED:
        return DETACHED
    known = ClusterCredential.objects.filter(cluster=cluster, right=Right.STEWARD).first()
    if known is None:
        return NO_STEWARD
    namespace = ClusterEndpoint.objects.values_list("namespace", flat=True).get(cluster=cluster)
    return MAY_NOT if Feature.CORDON in features_off(Right.STEWARD, namespace, known.answers) else ""


def open_cordon(node: Node) -> ClusterCordon | None:
    """What was asked of its cluster and is not over; None: nothing."""
    return ClusterCordon.objects.filter(node=node).exclude(state=ClusterCordon.State.CLOSED).first()


def steward_for(cluster: Cluster) -> Steward:
    """The steward's door to a cluster. Raises DriverUnavailable when there is none, with `cordon_off` as its reason."""
    if off := cordon_off(cluster):
        raise DriverUnavailable(f"{cluster.key}: no cordons there", reason=off)
    # The client is needed by this alone: pages that only ask whether there is one do not load it.
    from resources.drivers.kubernetes.api import Api  # noqa: PLC0415
    from resources.drivers.kubernetes.steward import KubernetesSteward  # noqa: PLC0415

    return KubernetesSteward(Api(connection_of(cluster)))
